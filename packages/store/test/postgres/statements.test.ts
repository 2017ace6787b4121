// Records the statements for a server that shards by owner, while the store's tests and model run.
// Each statement on a collection has its owner as a plain parameter, so that such a server, or a
// pooler, can send it to the owner's node.
import { strict as assert } from 'node:assert'
import pg from 'pg'
import t from 'tap'
import { Pipeline } from '../../src/postgres/pipeline.ts'
import { range } from '../../../../test/support/stores/store-engines.ts'
import { brought, openDatabases, startPostgres } from '../../../../test/support/postgres/server.ts'
import { openTestStore } from '../../../../test/support/stores/open-store.ts'

/** Statements sent together: their SQL, and its parameters, often once for each of several rows. */
interface Sent {
  readonly text: string
  readonly rows: readonly (readonly unknown[])[]
}

const COLLECTION = /"(plants|notes|access_tokens)"/
/**
 * The statements for making tables, and those of all owners: for `copy`, for counts, and whether
 * the store is empty.
 */
const OF_ALL =
  /^(CREATE TABLE IF NOT EXISTS |SELECT "owner" AS owner, .* ORDER BY |\(SELECT 1 FROM )/s
const HAS_OWNER = /"owner" = \$1\b|\("owner", "key", "item"\) VALUES \(\$1, /
const HAS_ARRAY = /\bunnest\b|\bANY\b|\[\]/i
const KINDS = ['INSERT', 'UPDATE', 'DELETE', 'SELECT "item"', 'SELECT coalesce', 'SELECT "key"']

const sent: Sent[] = []
const query: (...words: unknown[]) => unknown = Reflect.get(pg.Client.prototype, 'query')
Reflect.set(pg.Client.prototype, 'query', function record(this: pg.Client, ...words: unknown[]) {
  const [first, values] = words
  if (first instanceof Pipeline) sent.push(...piped(first))
  else if (typeof first === 'string') sent.push({ text: first, rows: [asRow(values)] })
  else sent.push(configured(first))
  return Reflect.apply(query, this, words)
})

/** What a pipeline sends, by its statements. */
function piped({ steps }: Pipeline): Sent[] {
  const byText = Map.groupBy(steps, ({ statement }) => statement.text)
  return [...byText].map(([text, same]) => ({ text, rows: same.map(({ values }) => values) }))
}

function configured(config: unknown): Sent {
  assert(typeof config === 'object' && config !== null && 'text' in config)
  return { text: String(config.text), rows: [asRow('values' in config ? config.values : [])] }
}

function asRow(values: unknown): unknown[] {
  return Array.isArray(values) ? values : []
}

/** Makes the store take a server for a Citus. */
const CITUS = `CREATE TABLE pg_dist_partition (logicalrelid regclass);
  CREATE FUNCTION create_distributed_table(regclass, text) RETURNS void LANGUAGE sql
    AS 'INSERT INTO public.pg_dist_partition VALUES ($1)';
  CREATE FUNCTION create_reference_table(regclass) RETURNS void LANGUAGE sql
    AS 'INSERT INTO public.pg_dist_partition VALUES ($1)'`

async function likeCitus(): Promise<string> {
  const server = await startPostgres(t)
  const url = await server.createDatabase()
  await server.sql(CITUS, url)
  return `${url}?options=-csearch_path%3Dpublic`
}

process.env['TEST_DATABASE_URL'] = brought() ?? (await likeCitus())
process.env['HISTORIES'] ??= '5'
await import('../store.test.ts')
await import('../model.test.ts')

t.test('a long page of one owner, and requests of many owners at once', async (t) => {
  const databases = await openDatabases(t)
  const store = await openTestStore({ url: await databases.createDatabase() })
  t.teardown(() => store.close())
  const owners = range(40).map((index) => `owner ${index}`)
  const ofEach = (run: (owner: string) => Promise<unknown>) => Promise.all(owners.map(run))
  await ofEach((owner) => store.create(owner, 1n, { name: owner }))
  await ofEach((owner) => store.update(owner, 1n, () => ({ name: 'new' })))
  await ofEach((owner) => store.list(owner))
  await ofEach((owner) => store.delete(owner, 1n))
  const name = 'x'.repeat(255)
  await Promise.all(range(400).map((id) => store.create('joe', BigInt(id), { name })))
  const { next } = await store.list('joe', { limit: 399 })
  t.type(next, 'string')
})

t.test('each statement that names a collection has one owner, as its first parameter', (t) => {
  const statements = sent.filter(({ text }) => COLLECTION.test(text) && !OF_ALL.test(text))
  const texts = new Set(statements.map(({ text }) => text))
  for (const kind of KINDS)
    t.ok(
      [...texts].some((text) => text.startsWith(kind)),
      `${kind} was sent`,
    )
  for (const text of texts) t.ok(HAS_OWNER.test(text) && !HAS_ARRAY.test(text), text)
  const owners = statements.map(({ rows }) => rows.map(([owner]) => owner))
  t.ok(owners.flat().every((owner) => typeof owner === 'string'))
  t.ok(
    owners.every((names) => new Set(names).size === 1),
    'what is sent together has one owner',
  )
  t.ok(
    owners.some(({ length }) => length > 1),
    'many of one owner are sent together',
  )
  t.comment(`${owners.flat().length} statements, sent ${owners.length} times`)
  t.end()
})
