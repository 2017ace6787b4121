// The real process is killed again and again, while clients write, while they change several items, or while it starts. LONG=1:
// 200 times.
import { setTimeout as delay } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { inspect, Ledger, listItems, work } from '../support/histories/ledger.ts'
import { lend, LendingRecord } from '../support/histories/lending.ts'
import { faultsIn, fillLibrary, readLibrary } from '../support/library/stock.ts'
import { startPostgres } from '../support/postgres/server.ts'
import { eventually } from '../support/processes/eventually.ts'
import { MAIN, start, startService } from '../support/processes/programs.ts'
import { issueTokenIn } from '../support/servers/access-tokens.ts'

const isLong = process.env['LONG'] !== undefined
const KILLS = isLong ? 200 : 20
/** The kills of the library on each store. */
const LIBRARY_KILLS = isLong ? 200 : 4
const LIBRARY = [process.execPath, 'test/support/library/main.ts']
/** The sessions of the services. */
const SESSIONS = `SELECT 1 FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()`
t.setTimeout(isLong ? 7_200_000 : 240_000)

t.test(
  `${KILLS} times kill -9 lose no acknowledged write and undo no delete`,
  { timeout: 0 },
  async (t) => {
    const file = `${t.testdir()}/plants.db`
    const token = await issueTokenIn({ file })
    const environment = {
      DATABASE_URL: `sqlite:${file}`,
      PORT: '0',
      NODE_ENV: 'production',
      LOG_LEVEL: 'info',
    }
    const ledger = new Ledger()
    for (let kill = 0; kill < KILLS; kill++) {
      if (kill % 5 === 4) {
        const { child, ended } = await start(t, MAIN, environment)
        await delay(Math.random() * 600)
        child.kill('SIGKILL')
        await ended
      } else {
        const { child, ended, port } = await startService(t, environment)
        const writes = ledger.acknowledged + Math.random() * 200
        const isOver = () => {
          if (ledger.acknowledged > writes) child.kill('SIGKILL')
          return false
        }
        await Promise.all([ended, work(port, token, ledger, { isOver, clients: 32 })])
      }
      const { items, faults } = inspect(file, 'joe')
      t.strictSame([...faults, ...ledger.violations(items)], [], `after kill ${kill}`)
    }
    const { port } = await startService(t, environment)
    t.strictSame(await listItems(port, token), inspect(file, 'joe').items)
    t.comment({ kills: KILLS, acknowledged: ledger.acknowledged, deletes: ledger.deleted.size })
    t.ok(ledger.acknowledged > KILLS * 10, 'the clients did write')
  },
)

for (const { name, replicas, open } of [
  {
    name: 'SQLite',
    replicas: 1,
    open: async (t: Test) => {
      const file = `${t.testdir()}/library.db`
      const settle = async () => inspect(file, '').faults
      return { database: { file }, DATABASE_URL: `sqlite:${file}`, settle }
    },
  },
  {
    name: 'PostgreSQL',
    replicas: 2,
    open: async (t: Test) => {
      const server = await startPostgres(t)
      const url = await server.createDatabase()
      // A session outlives its client until it has done its statement.
      const settle = async () => {
        await eventually(async () => (await server.sql(SESSIONS)).length === 0)
        return []
      }
      return { database: { url }, DATABASE_URL: url, settle }
    },
  },
])
  t.test(
    `${LIBRARY_KILLS} times kill -9 of a library on ${name} lose no copy, and give nobody six loans`,
    { timeout: 0 },
    async (t) => {
      const { database, DATABASE_URL, settle } = await open(t)
      const token = await fillLibrary(database)
      const record = new LendingRecord()
      for (let kills = 0; kills < LIBRARY_KILLS;) {
        const starts = Array.from({ length: replicas }, () =>
          startService(t, { DATABASE_URL, LOG_LEVEL: 'info' }, LIBRARY),
        )
        const services = await Promise.all(starts)
        const left = services.map((service) => {
          kills += 1
          return { service, answers: record.answered + Math.random() * 400 }
        })
        const isOver = () => {
          for (const { service, answers } of left)
            if (record.answered > answers) service.child.kill('SIGKILL')
          return false
        }
        const ends = services.map(({ ended }) => ended)
        await Promise.all([
          ...ends,
          lend(
            services.map(({ port }) => port),
            token,
            record,
            isOver,
          ),
        ])
        const faults = await settle()
        const stock = await readLibrary(database)
        t.strictSame(
          [...faults, ...faultsIn(stock), ...record.violations(stock)],
          [],
          `after kill ${kills}`,
        )
      }
      t.comment({ kills: LIBRARY_KILLS, answers: Object.fromEntries(record.answers) })
      for (const answer of ['PUT 200', 'PUT 409', 'DELETE 204'])
        t.ok(Number(record.answers.get(answer)) > LIBRARY_KILLS, `there were many of ${answer}`)
    },
  )
