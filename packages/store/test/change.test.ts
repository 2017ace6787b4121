// Changes of several items, on each engine: all of a change is done or nothing, and nothing gets between.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'
import t, { type Test } from 'tap'
import { change, type Collection, removed, write } from '@plant-store/engine'
import { HttpError, type StoreOptions } from '@plant-store/engine/for-store'
import { testStore } from '@plant-store/store'
import { brought } from '../../../test/support/postgres/server.ts'
import { product } from '../../../test/support/product/product.ts'
import { type Engine, range, startEngines } from '../../../test/support/stores/store-engines.ts'
import type { Note, TestStore } from '../../../test/support/stores/open-store.ts'

const OWNER = '/bank'
const PROGRAM = new URL('change-until-killed.ts', import.meta.url).pathname

for (const engine of await startEngines(t))
  t.test(`changes on ${engine.name}`, (t) => suite(t, engine))

/** The notes of a store, whose counts are balances. */
type Accounts = Collection<Note, string>

const account = (count: bigint): Note => ({ text: 'account', count })

/** Moves money, if there is enough. @returns whether it did */
function pay(accounts: Accounts, from: string, to: string, amount: bigint): Promise<boolean> {
  const items = { payer: accounts.at(from), payee: accounts.at(to) }
  return change(OWNER, items, ({ payer, payee }) => {
    if (payer === undefined || payee === undefined || payer.count < amount) return false
    const paid = { ...payer, count: payer.count - amount }
    return write({ payer: paid, payee: { ...payee, count: payee.count + amount } }, true)
  })
}

async function open(accounts: Accounts, count: number): Promise<string[]> {
  const names = range(count).map((index) => `account ${index}`)
  await Promise.all(names.map((name) => accounts.create(OWNER, name, account(100n))))
  return names
}

async function balances(accounts: Accounts, names: readonly string[]): Promise<bigint[]> {
  const accountsNow = await Promise.all(names.map((name) => accounts.find(OWNER, name)))
  return accountsNow.map((account) => account?.count ?? -1n)
}

/** Makes a trigger that refuses notes with a word. */
async function refuseNotes(database: StoreOptions['database'], word: string): Promise<void> {
  const when = `BEFORE INSERT ON notes`
  if ('file' in database) {
    using db = new DatabaseSync(database.file)
    db.exec(
      `CREATE TRIGGER t ${when} WHEN NEW.item LIKE '%${word}%' BEGIN SELECT RAISE(ABORT, '${word}'); END`,
    )
    return
  }
  const client = new pg.Client({ connectionString: database.url })
  await client.connect()
  await client.query(`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
      'BEGIN IF NEW.item LIKE ''%${word}%'' THEN RAISE EXCEPTION ''${word}''; END IF; RETURN NEW; END';
    CREATE TRIGGER t ${when} FOR EACH ROW EXECUTE FUNCTION refuse()`)
  await client.end()
}

const sum = (numbers: readonly bigint[]) => numbers.reduce((total, number) => total + number, 0n)

async function suite(t: Test, engine: Engine): Promise<void> {
  t.test(
    'a change creates, replaces, deletes and leaves items of several collections',
    async (t) => {
      const { store } = await engine.open(t)
      await store.create('joe', 1n, { name: 'rose' })
      await store.notes.create('joe', 'a', account(1n))
      const items = {
        old: store.at(1n),
        fresh: store.at(2n),
        gone: store.notes.at('a'),
        absent: store.notes.at('b'),
      }
      const answer = await change('joe', items, (stored) => {
        t.strictSame(stored, {
          old: { name: 'rose' },
          fresh: undefined,
          gone: account(1n),
          absent: undefined,
        })
        return write({ old: { name: 'fern' }, fresh: { name: 'moss' }, gone: removed }, 'done')
      })
      t.equal(answer, 'done')
      t.strictSame(await change('joe', items, (stored) => stored), {
        old: { name: 'fern' },
        fresh: { name: 'moss' },
        gone: undefined,
        absent: undefined,
      })
      t.equal(await store.notes.find('joe', 'a'), undefined)
      t.strictSame(await change('ann', items, ({ old }) => old), undefined, 'of another owner')
      t.match((await store.list('joe')).items, { text: '[{"name":"fern"},{"name":"moss"}]' })
      await change('joe', items, () => write({}))
      t.equal(await change('joe', items, () => write(undefined, 'kept')), 'kept')
    },
  )

  t.test('a change that refuses, throws or is wrong writes nothing', async (t) => {
    const { store } = await engine.open(t)
    await store.create('joe', 1n, { name: 'rose' })
    const items = { plant: store.at(1n), note: store.notes.at('a') }
    const plant = { name: 'fern' }
    const fault = new Error('fault')
    const fail = (): never => {
      throw fault
    }
    t.equal(await change('joe', items, () => 'refused'), 'refused')
    await t.rejects(change('joe', items, fail), fault)
    await t.rejects(
      change('joe', items, async () => write({ plant })),
      /returned a promise/,
    )
    const unwritable = Object.defineProperty({ name: '' }, 'name', { enumerable: true, get: fail })
    await t.rejects(
      change('joe', items, () => write({ note: account(1n), plant: unwritable })),
      fault,
    )
    const unknown: object = { plant, strange: plant }
    await t.rejects(
      change('joe', items, () => write(unknown)),
      /^strange is no item of this change$/,
    )
    await t.rejects(
      change('joe', { a: store.at(1n), b: store.at(1n) }, () => write({ a: plant })),
      /another name/,
    )
    await t.rejects(
      change('joe', {}, () => 1),
      /has 1 to 100 items, not 0/,
    )
    const many = Object.fromEntries(range(101).map((id) => [`${id}`, store.at(BigInt(id))]))
    await t.rejects(
      change('joe', many, () => 1),
      /has 1 to 100 items, not 101/,
    )
    const { plants } = await testStore(product)
    await t.rejects(
      change('joe', { plant: store.at(1n), strange: plants.at(1n) }, () => 1),
      /no item of this store/,
    )
    t.strictSame(await change('joe', items, (stored) => stored), {
      plant: { name: 'rose' },
      note: undefined,
    })
    const kept = Object.fromEntries(range(100).map((id) => [`${id}`, store.at(BigInt(id))]))
    t.equal(await change('joe', kept, (stored) => Object.keys(stored).length), 100)
  })

  t.test('under a key that can not be stored there is no item, and none is written', async (t) => {
    const { store } = await engine.open(t)
    const items = { plant: store.at(1n), far: store.at(2n ** 63n), note: store.notes.at('\0') }
    t.strictSame(await change('joe', items, ({ far, note }) => [far, note]), [undefined, undefined])
    t.equal(await change('joe', items, () => write({ far: removed }, 1)), 1)
    const plant = { name: 'rose' }
    await t.rejects(
      change('joe', items, () => write({ plant, far: plant })),
      new HttpError(400, 'A key has 1 to 1024 bytes, and no NUL'),
    )
    await t.rejects(
      change('\0', items, () => write({ plant })),
      new HttpError(400, 'An owner has at most 1024 bytes, and no NUL'),
    )
    t.equal(await store.find('joe', 1n), undefined)
  })

  t.test('a write that the database refuses undoes its change, and no other one', async (t) => {
    if (brought() !== undefined) return // it may have no triggers
    const { store, database } = await engine.open(t)
    await refuseNotes(database, 'poison')
    const put = (id: number) =>
      change('joe', { plant: store.at(BigInt(id)), note: store.notes.at(`${id}`) }, () => {
        const note = { text: id === 4 ? 'poison' : 'food', count: 0n }
        return write({ plant: { name: 'rose' }, note }, true)
      })
    const results = await Promise.allSettled(range(9).map(put))
    const isDone = results.map(({ status }) => status === 'fulfilled')
    t.strictSame(isDone, range(9).map((id) => id !== 4)) // prettier-ignore
    const plants = await Promise.all(range(9).map((id) => store.find('joe', BigInt(id))))
    t.strictSame(plants.map(Boolean), isDone)
  })

  t.test('no money is lost or made by 32 callers, beside updates and creates', async (t) => {
    const { store, reopen } = await engine.open(t)
    const stores: TestStore[] = engine.isShared ? [store, await reopen(), await reopen()] : [store]
    const names = await open(store.notes, 5)
    let added = 0n
    const caller = async (index: number) => {
      const { notes } = stores[index % stores.length] ?? store
      for (const round of range(12)) {
        const [from = '', to = ''] = [
          names[(index + round) % 5],
          names[(index * 3 + round + 1) % 5],
        ]
        if (from !== to) await pay(notes, from, to, BigInt(round * 7))
        if (round % 6 !== 0) continue
        await notes.update(OWNER, from, (note) => ({ ...note, count: note.count + 1n }))
        added += 1n
        await notes.create(OWNER, `${index} ${round}`, account(0n))
      }
    }
    await Promise.all(range(32).map(caller))
    const left = await balances(store.notes, names)
    t.equal(sum(left), 500n + added)
    t.ok(left.every((balance) => balance >= 0n))
  })

  t.test('a limit over two collections holds under 32 callers', async (t) => {
    const { store, reopen } = await engine.open(t)
    const second = engine.isShared ? await reopen() : store
    await store.notes.create('/library', 'ann', account(0n))
    const borrow = (on: TestStore, loan: number) =>
      change(
        '/library',
        { loan: on.at(BigInt(loan)), member: on.notes.at('ann') },
        ({ member }) => {
          if (member === undefined || member.count >= 5n) return false
          const more = { ...member, count: member.count + 1n }
          return write({ loan: { name: 'loan' }, member: more }, true)
        },
      )
    const lent = await Promise.all(
      range(32).map((loan) => borrow(loan % 2 === 0 ? store : second, loan)),
    )
    t.equal(lent.filter(Boolean).length, 5)
    const loans = await Promise.all(range(32).map((loan) => store.find('/library', BigInt(loan))))
    t.strictSame(loans.map(Boolean), lent)
    t.match(await store.notes.find('/library', 'ann'), { count: 5n })
  })

  t.test(
    'a decision on items that it only reads holds, also on an item that is not there',
    async (t) => {
      const { store, reopen } = await engine.open(t)
      const second = engine.isShared ? await reopen() : store
      // Each writes one item, unless the other one is there: never both.
      for (const round of range(engine.isShared ? 20 : 3)) {
        const [left, right] = [`left ${round}`, `right ${round}`]
        const ofLeft = { own: store.notes.at(left), rival: store.notes.at(right) }
        const ofRight = { own: second.notes.at(right), rival: second.notes.at(left) }
        const take = (items: typeof ofLeft) =>
          change(
            OWNER,
            items,
            ({ rival }) => rival === undefined && write({ own: account(1n) }, true),
          )
        const took = await Promise.all([take(ofLeft), take(ofRight)])
        t.equal(took.filter(Boolean).length, 1)
        t.equal(sum(await balances(store.notes, [left, right])), 0n, 'one of them is there')
      }
    },
  )

  t.test('a kill under load leaves all of a change or nothing', async (t) => {
    const { store, reopen, database } = await engine.open(t)
    const names = await open(store.notes, 4)
    if (!engine.isShared) await store.close()
    for (const _ of range(4)) {
      const child = spawn(process.execPath, [PROGRAM, JSON.stringify(database), ...names], {
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      await once(child.stdout, 'data') // changes are under way
      child.kill('SIGKILL')
      await once(child, 'exit')
      const again = await reopen()
      t.equal(sum(await balances(again.notes, names)), 400n)
      await again.close()
    }
  })
}
