import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { StoreUnavailable } from '../../../../service/engine/errors.ts'
import { JsonText } from '../../../../service/engine/http/json.ts'
import { range } from '../../../support/engines.ts'
import { namesIn } from '../../../support/pages.ts'
import { startPostgres } from '../../../support/postgres.ts'
import { limits, name, open } from './open.ts'

const server = await startPostgres(t, 'autovacuum=off')

t.test('writes of one kind that arrive together are one statement and one commit', async (t) => {
  const { store, sql } = await open(t, server)
  await Promise.all(range(100).map((id) => store.create('joe', BigInt(id), name('old'))))
  const commits = async () => Number((await sql('SELECT pg_snapshot_xmax(pg_current_snapshot()) AS next'))[0]?.['next'])
  const before = await commits()
  const answers = await Promise.all([
    ...range(100).map((id) => store.create('ann', BigInt(id), name(id))),
    ...range(40).map((id) => store.delete('joe', BigInt(id))),
    store.create('joe', 99n, name('other')),
  ])
  t.equal((await commits()) - before, 2)
  t.strictSame(answers, [...range(100).map(name), ...Array<boolean>(40).fill(true), name('old')])
  await Promise.all(range(40).map((id) => store.update('joe', BigInt(id + 50), () => name('new'))))
  t.ok((await commits()) - before <= 2 + 3, 'the updates that are found together')
  t.equal((await namesIn(store, 'joe')).filter((each) => each === 'new').length, 40)
})

t.test('a write that can not be stored fails, and no other write does', async (t) => {
  const { store } = await open(t, server)
  const results = await Promise.allSettled([
    store.create('joe', 1n, name('a')),
    store.create('j\0e', 2n, name('b')),
    store.delete('joe', 5n),
  ])
  const rejected = { status: 'rejected', reason: { name: /^(?!StoreUnavailable)/ } }
  t.match(results, [{ status: 'fulfilled' }, rejected, { status: 'fulfilled' }])
  t.strictSame(await namesIn(store, 'joe'), ['a'])
})

t.test('a write is repeated after a serialization failure, which does not end its connection', async (t) => {
  const isolated = (url: string) => `${url}?options=-c%20default_transaction_isolation=serializable`
  const { store, sql, waiting } = await open(t, server, limits(3), isolated)
  await store.create('joe', 1n, name('a'))
  await sql(`BEGIN; UPDATE plants SET item = '{"name":"b"}'`)
  const updated = store.update('joe', 1n, () => name('c'))
  const pid = await waiting('UPDATE')
  await sql('COMMIT')
  t.strictSame(await updated, name('c'))
  t.strictSame(await namesIn(store, 'joe'), ['c'])
  t.equal((await sql(`SELECT FROM pg_stat_activity WHERE pid = ${pid}`)).length, 1)
})

t.test('a write whose connection is lost is refused and not repeated; a read is repeated', async (t) => {
  const { store, sql, waiting } = await open(t, server, limits(3, 30)) // nothing is given up on a busy machine
  await store.create('joe', 1n, name('a'))
  await sql('BEGIN; LOCK TABLE plants')
  const results = Promise.allSettled([store.delete('joe', 1n), store.list('joe')])
  for (const pid of [await waiting('DELETE'), await waiting('SELECT n, step')])
    await sql(`SELECT pg_terminate_backend(${pid})`)
  await waiting('SELECT n, step')
  await sql('COMMIT')
  const [deleted, listed] = await results
  t.ok(deleted.status === 'rejected' && deleted.reason instanceof StoreUnavailable)
  t.strictSame(listed, { status: 'fulfilled', value: { items: new JsonText('[{"name":"a"}]') } })
})

t.test('the time that a write waits for others counts for its timeout', async (t) => {
  const { store, relay } = await open(t, server)
  relay.stall(true)
  const stuck = store.create('joe', 1n, name('under way'))
  await delay(600)
  const waits = store.create('joe', 2n, name('waits')).catch((error: unknown) => error)
  const late = delay(1250, 'it took longer than DATABASE_TIMEOUT')
  await t.rejects(stuck, StoreUnavailable)
  t.ok((await Promise.race([waits, late])) instanceof StoreUnavailable)
})

t.test('writes that arrive together are done in the order of their keys: replicas never deadlock', async (t) => {
  const { store, sql, waiting } = await open(t, server)
  await store.create('joe', 1n, name('a'))
  await sql('BEGIN; SELECT 1 FROM plants WHERE key = 1 FOR UPDATE')
  const created = Promise.all([store.create('joe', 2n, name('b')), store.create('joe', 1n, name('b'))])
  await waiting('INSERT')
  // The create waits for the first plant, and has not locked the second one.
  await sql(`SET LOCAL lock_timeout = '1ms'; INSERT INTO plants VALUES ('joe', 2, '{"name":"a"}'); COMMIT`)
  t.strictSame(await created, [name('a'), name('a')])
})
