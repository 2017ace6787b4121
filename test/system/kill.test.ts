// The real process is killed again and again, while clients write or while it starts. LONG=1: 200 times.
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { inspect, Ledger, listItems, work } from '../support/histories/ledger.ts'
import { MAIN, start, startService } from '../support/processes/programs.ts'
import { issueTokenIn } from '../support/servers/access-tokens.ts'

const isLong = process.env['LONG'] !== undefined
const KILLS = isLong ? 200 : 20
t.setTimeout(isLong ? 1_800_000 : 120_000)

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
