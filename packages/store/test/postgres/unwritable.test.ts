// A real service with a read-only collection: its probe fails, and its log gives the reason once.
import t from 'tap'
import { startPostgres } from '../../../../test/support/postgres/server.ts'
import { linesOf, startService } from '../../../../test/support/processes/programs.ts'
import { eventually } from '../../../../test/support/processes/eventually.ts'
import { issueTokenIn } from '../../../../test/support/servers/access-tokens.ts'
import { asGuest } from './open.ts'
import { range } from '../../../../test/support/stores/store-engines.ts'

const server = await startPostgres(t)

const REFUSALS = [
  {
    refuse: 'REVOKE INSERT ON plants FROM guest',
    allow: 'GRANT INSERT ON plants TO guest',
    message: 'permission denied for table plants',
  },
  {
    refuse: `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'closed'; END $$;
      CREATE TRIGGER refuse BEFORE INSERT ON plants FOR EACH ROW EXECUTE FUNCTION refuse()`,
    allow: 'DROP TRIGGER refuse ON plants',
    message: 'closed',
  },
  {
    refuse: 'ALTER TABLE plants ADD CONSTRAINT none CHECK (key < 0) NOT VALID',
    allow: 'ALTER TABLE plants DROP CONSTRAINT none',
    message: 'violates check constraint "none"',
  },
]

t.test(
  'a collection that can not be written to is not ready, and the reason is logged once',
  async (t) => {
    const url = await server.createDatabase()
    const token = await issueTokenIn({ url })
    await server.sql(
      'GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO guest',
      url,
    )
    const service = await startService(t, { DATABASE_URL: asGuest(url) })
    const create = async (id: number) => {
      const { status } = await fetch(`http://127.0.0.1:${service.port}/plants`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ id, name: 'a' }),
      })
      return status
    }
    const ready = async () => (await fetch(`http://127.0.0.1:${service.adminPort}/readyz`)).status
    t.equal(await create(1), 200)
    t.equal(await ready(), 200)
    const lines = () => linesOf(service.printed.stdout)
    for (const [at, { refuse, allow, message }] of REFUSALS.entries()) {
      await server.sql(refuse, url)
      const statuses = await Promise.all(range(50).map(create))
      t.strictSame(new Set([...statuses, await create(60)]), new Set([503]), message)
      await eventually(async () => (await ready()) === 503)
      await eventually(() => lines().some(({ msg }) => msg === 'the store does not answer a probe'))
      const reasons = lines().filter(({ msg }) => msg === 'request failed')
      t.match(reasons.at(-1), { err: { message } })
      t.equal(reasons.length, at + 1)
      await server.sql(allow, url)
      await eventually(async () => (await ready()) === 200)
      t.equal(await create(100 + at), 200)
    }
  },
)
