// One caller's rows get into trouble at the server, and the others are answered: rows held by
// somebody else, refused statements, writes without an effect.
import { fail } from 'node:assert'
import t, { type Test } from 'tap'
import { change, write } from '@plant-store/engine'
import { StoreUnavailable } from '@plant-store/engine/for-store'
import { range } from '../../../../test/support/stores/store-engines.ts'
import { startPostgres } from '../../../../test/support/postgres/server.ts'
import { eventually } from '../../../../test/support/processes/eventually.ts'
import type { TestStore } from '../../../../test/support/stores/open-store.ts'
import { limits, name, open } from './open.ts'

const server = await startPostgres(t)
const OTHERS = range(10).map((id) => `owner ${id}`)

/** Adds a trigger for the rows of mallory. */
const trigger = (action: string) => `
  CREATE FUNCTION act() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF coalesce(OLD.owner, NEW.owner) LIKE 'mallory%' THEN ${action} END IF;
    RETURN coalesce(NEW, OLD); END $$;
  CREATE TRIGGER act BEFORE INSERT OR UPDATE OR DELETE ON plants FOR EACH ROW EXECUTE FUNCTION act()`

/**
 * The kinds of writes. Each is done, and answered with its item, or with whether a row was
 * deleted.
 */
const KINDS: readonly [
  kind: string,
  write: (store: TestStore, owner: string) => Promise<unknown>,
  answer: unknown,
][] = [
  ['creates', (store, owner) => store.create(owner, 2n, name('new')), name('new')],
  ['updates', (store, owner) => store.update(owner, 1n, () => name('new')), name('new')],
  ['deletes', (store, owner) => store.delete(owner, 1n), true],
  ['changes', changeBoth, 'changed'],
]

function changeBoth(store: TestStore, owner: string): Promise<string> {
  const items = { old: store.at(1n), fresh: store.at(2n) }
  return change(owner, items, () => write({ old: name('new'), fresh: name('new') }, 'changed'))
}

/** Stores an item of each owner. */
const prepare = (store: TestStore) =>
  Promise.all(
    [...OTHERS, 'mallory', 'mallory 2'].map((owner) => store.create(owner, 1n, name('old'))),
  )

/**
 * Writes for all owners at the same time. @returns the answers to the others; mallory's must be
 * refused
 */
async function writeTogether(t: Test, store: TestStore, write: (typeof KINDS)[number][1]) {
  const refused = ['mallory', 'mallory 2'].map((owner) =>
    t.rejects(write(store, owner), StoreUnavailable),
  )
  const answers = await Promise.all(OTHERS.map((owner) => write(store, owner)))
  await Promise.all(refused)
  return answers
}

for (const size of [1, 2, 5]) {
  t.test(`a row that somebody holds, holds up its owner only: ${size} connections`, async (t) => {
    const { store, sql } = await open(t, server, limits(size, 3))
    await prepare(store)
    await sql(`BEGIN; SELECT 1 FROM plants WHERE owner = 'mallory' FOR UPDATE`)
    let isOver = false
    const insist = async (write: () => Promise<unknown>) => {
      while (!isOver)
        await write().catch((error: unknown) => t.ok(error instanceof StoreUnavailable))
    }
    const insisting = [
      ...KINDS.map(([, write]) => insist(() => write(store, 'mallory'))),
      insist(() => store.delete('mallory', 3n)),
    ]
    const begun = performance.now()
    for (const id of range(30)) {
      await store.create('bob', BigInt(id), name(id))
      t.strictSame(await store.update('bob', BigInt(id), () => name('new')), name('new'))
      t.ok(await store.delete('bob', BigInt(id)))
    }
    t.comment(`90 writes of bob in ${Math.round(performance.now() - begun)} ms`)
    isOver = true
    const held = store.update('mallory', 1n, () => name('after'))
    await sql('COMMIT')
    await held.catch((error: unknown) => t.ok(error instanceof StoreUnavailable))
    await Promise.all(insisting)
    await eventually(async () =>
      store.create('mallory', 1n, name('a')).then(
        () => true,
        () => false,
      ),
    )
  })
}

t.test('the writes of owners who were held up share a commit again', async (t) => {
  const { store, sql } = await open(t, server, limits(3, 10))
  await prepare(store)
  await sql(`BEGIN; SELECT 1 FROM plants WHERE owner LIKE 'mallory%' FOR UPDATE`)
  const owners = ['mallory', 'mallory 2']
  const held = Promise.all(owners.map((owner) => store.update(owner, 1n, () => name('new'))))
  await store.create('bob', 1n, name('after both were set aside'))
  await sql('COMMIT')
  t.strictSame(await held, [name('new'), name('new')])
  const before = store.stats().commits
  await Promise.all([...OTHERS, ...owners].map((owner) => store.create(owner, 2n, name('a'))))
  t.equal(store.stats().commits - before, 1)
})

for (const code of [
  '53100',
  '53200',
  '53400',
  '58030',
  '57014',
  '55P03',
  '0A000',
  '42501',
  'P0001',
  '23514',
]) {
  t.test(`a statement that is refused with ${code} is refused alone`, async (t) => {
    const { store, sql } = await open(t, server, limits(5, 5))
    await prepare(store)
    await sql(trigger(`RAISE EXCEPTION 'not for you' USING ERRCODE = '${code}';`))
    for (const [kind, write, answer] of KINDS)
      t.strictSame(
        await writeTogether(t, store, write),
        OTHERS.map(() => answer),
        kind,
      )
  })
}

t.test('a write without an effect is an error, and of no other write', async (t) => {
  const { store, sql } = await open(t, server, limits(5, 5))
  await prepare(store)
  await sql(trigger('RETURN NULL;'))
  for (const [kind, write, answer] of KINDS)
    t.strictSame(
      await writeTogether(t, store, write),
      OTHERS.map(() => answer),
      kind,
    )
  const message = /^the database has not (stored|updated|deleted) a row of plants: /
  for (const [kind, write] of KINDS) await t.rejects(write(store, 'mallory'), { message }, kind)
  t.notOk(await store.delete('mallory', 9n), 'no such row')
})

t.test('reads wait for a lock longer than writes that share a transaction', async (t) => {
  const { store, sql, waiting, timesSent } = await open(t, server, limits(3, 10))
  await prepare(store)
  const plants = store.tables.get('plants') ?? fail()
  await sql('BEGIN; LOCK TABLE plants')
  const item = plants.find('mallory', 1n)
  await waiting('SELECT "item"')
  const times = timesSent('mallory')
  await eventually(() => timesSent('mallory') > times) // it is sent again
  await sql('COMMIT')
  t.equal(await item, JSON.stringify(name('old')))
})
