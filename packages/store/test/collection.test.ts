// Collections with keys of both types, on each engine: simultaneous writes, and lists, the long
// ones read in steps, by key. model.test.ts has the other answers.
import { setImmediate as nextTurn } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { write } from '@plant-store/engine'
import { type Key, StoreBusy, type Written } from '@plant-store/engine/for-store'
import { makeReadQueue, readList } from '../src/core/lists.ts'
import { BY_KEY, type Chunk } from '../src/core/database.ts'
import {
  type Engine,
  filling,
  forEachCollection,
  type Kind,
  range,
} from '../../../test/support/stores/store-engines.ts'
import {
  parsed,
  partsOf,
  read,
  textOf as textOfPage,
} from '../../../test/support/stores/read-page.ts'

await forEachCollection(t, suite)

t.test(
  'while a step of an owner waits, its next long list reads nothing before its turn, and reads the whole then',
  async (t) => {
    const store = {
      reads: makeReadQueue({ maxRows: 1, parallel: 1, timeout: 60_000 }),
      timeout: 60_000,
    }
    const read: string[] = []
    const table = {
      read: async ({ owner, most }: Chunk) => ({
        text: '',
        count: 0,
        hasMore: read.push(`${owner} ${most}`) === 0,
      }),
      skip: () => Promise.resolve(undefined),
    }
    const turn = Promise.withResolvers<undefined>()
    const waiting = ['a', 'a'].map((owner) =>
      store.reads.add({ owner, rows: 1, read: () => turn.promise }),
    )
    const lists = ['a', 'b'].map((owner) =>
      readList(store, table, { owner, order: BY_KEY, after: undefined, limit: 200 }),
    )
    await nextTurn()
    t.strictSame(read, ['b 64'])
    await readList(store, table, { owner: 'a', order: BY_KEY, after: undefined, limit: 64 })
    t.strictSame(
      read,
      ['b 64', 'a 64'],
      'a short page, perhaps of another caller who shares the owner, waits for nothing',
    )
    turn.resolve(undefined)
    await Promise.all([...waiting, ...lists])
    t.strictSame(read, ['b 64', 'a 64', 'a 200'])
  },
)

/** Makes items so long that a step holds few. */
const LONG = '🌱'.repeat(250)
/** Places of the owner "many": more than one step, with room between them. */
const MANY = range(1600).map((n) => n * 3 + 10)

async function suite<Item, K extends Key>(
  t: Test,
  kind: Kind<Item, K>,
  engine: Engine,
): Promise<void> {
  const { key, item, textOf } = kind
  const { store, reopen } = await engine.open(t)
  const { items, create, placeOf, placesOf } = filling(kind, store)
  const longList = async (owner: string, limit?: number) =>
    partsOf(await items.list(owner, { limit }))[Symbol.asyncIterator]()
  const textsOf = async (owner: string) => (await read(items.list(owner))).items.map(textOf)
  const filled = create('many', MANY, LONG)

  t.test('a change that throws does not affect the writes that arrive with it', async (t) => {
    await Promise.all([1, 2, 3].map((place) => items.create('throws', key(place), item('old'))))
    const results = await Promise.allSettled([
      items.update('throws', key(1), () => item('new')),
      items.update('throws', key(2), () => {
        throw new Error('no change')
      }),
      items.update('throws', key(3), () => item('new')),
      items.create('throws', key(4), item('new')),
    ])
    const statuses = results.map(({ status }) => status)
    t.strictSame(statuses, ['fulfilled', 'rejected', 'fulfilled', 'fulfilled'])
    t.strictSame(await textsOf('throws'), ['new', 'old', 'new', 'new'])
  })

  t.test('an update answers by write, and may write nothing', async (t) => {
    const [place, absent] = [key(1), key(2)]
    await items.create('answers', place, item('old'))
    const update = (change: (stored: Item) => Written<Item | undefined, unknown>, at = place) =>
      items.update('answers', at, change)
    t.equal(await update((stored) => write(undefined, textOf(stored))), 'old')
    t.equal(await update(() => write(item('new'), 'done')), 'done')
    t.equal(await update(() => write(undefined)), undefined, 'the answer may be undefined')
    t.strictSame(await textsOf('answers'), ['new'])
    t.equal(await update(() => write(item('new'), 'done'), absent), undefined)
    const mixed = (name: string) =>
      items.update('answers', place, (stored) =>
        textOf(stored) === name ? undefined : write(item(name), 'changed'),
      )
    t.equal(await mixed('newer'), 'changed')
    t.strictSame(await mixed('newer'), await items.find('answers', place), 'the stored item')
    const deep: unknown = JSON.parse(`${'['.repeat(100)}${']'.repeat(100)}`)
    await t.rejects(
      update(() => write({ ...item('refused'), deep }, 'done')),
      { name: 'TooDeep' },
    )
    t.strictSame(await textsOf('answers'), ['newer'])
  })

  t.test('of updates that arrive together each has its answer', async (t) => {
    const another = engine.isShared ? await reopen() : store
    await items.create('turns', key(1), item('0'))
    const turn = (n: number) =>
      kind.of(n % 2 === 0 ? store : another).update('turns', key(1), (stored) => {
        const count = Number(textOf(stored)) + 1
        return count > 30 ? write(undefined, 'too late') : write(item(`${count}`), `turn ${count}`)
      })
    const answers = await Promise.all(range(32).map(turn))
    const turns = range(30).map((n) => `turn ${n + 1}`)
    t.strictSame(answers.sort(), [...turns, 'too late', 'too late'].sort())
    t.strictSame(await textsOf('turns'), ['30'])
  })

  t.test('an item of more than 100 levels is an error, and nothing of it is stored', async (t) => {
    const nested = (levels: number): Item => {
      const more: unknown = JSON.parse(`${'['.repeat(levels - 1)}7${']'.repeat(levels - 1)}`)
      return { ...item('deep'), more } // collections of tests have no schema
    }
    await Promise.all([1, 2].map((place) => items.create('deep', key(place), item('old'))))
    t.strictSame(await items.create('deep', key(3), nested(100)), nested(100))
    t.strictSame(await items.update('deep', key(2), () => nested(100)), nested(100))
    for (const levels of [101, 1000, 8000]) {
      const results = await Promise.allSettled([
        items.create('deep', key(4), nested(levels)),
        items.update('deep', key(1), () => nested(levels)),
        items.create('deep', key(5), item('new')),
      ])
      const reasons = results.map((result) => 'reason' in result && String(result.reason))
      const reason = 'TooDeep: JSON must not be nested more than 100 levels deep'
      t.strictSame(reasons, [reason, reason, false])
    }
    t.strictSame(await items.find('deep', key(4)), undefined)
    t.strictSame(await items.find('deep', key(1)), item('old'))
    t.strictSame((await read(items.list('deep'))).items.slice(1), [
      nested(100),
      nested(100),
      item('new'),
    ])
  })

  t.test('a list shows all writes that were answered before it', async (t) => {
    const writes = [
      { write: () => items.create('shown', key(1), item('a')), texts: ['a'] },
      { write: () => items.update('shown', key(1), () => item('b')), texts: ['b'] },
      { write: () => items.create('shown', key(2), item('c')), texts: ['b', 'c'] },
      { write: () => items.delete('shown', key(1)), texts: ['c'] },
    ]
    for (const [place, { write, texts }] of writes.entries()) {
      // The write waits for the end of the turn, because another one comes first. The list is read
      // before it.
      await Promise.all([items.create('other', key(place), item('x')), write(), textsOf('shown')])
      t.strictSame(await textsOf('shown'), texts)
    }
  })

  t.test('no change of an item is lost, also if two processes make them', async (t) => {
    const another = engine.isShared ? await reopen() : store
    await items.create('count', key(1), item('0'))
    const increment = (old: Item) => item(String(Number(textOf(old)) + 1))
    const plants = await Promise.all(
      range(32).map((n) =>
        kind.of(n % 2 === 0 ? store : another).update('count', key(1), increment),
      ),
    )
    t.strictSame(await textsOf('count'), ['32'])
    const answers = new Set(plants.map((plant) => plant && textOf(plant)))
    t.strictSame(
      answers,
      new Set(range(32).map((n) => String(n + 1))),
      'each answers with its own change',
    )
  })

  t.test('a list of up to 64 KB shows one moment', async (t) => {
    const pair = [key(0), key(299)] as const
    await create('moment', range(299).slice(1), 'x'.repeat(150))
    for (const key of pair) await items.create('moment', key, item('0'))
    const over = new AbortController()
    // At each moment the first item is as new as the last one, or newer by one.
    const writing = (async () => {
      for (let version = 1; !over.signal.aborted; version++) {
        for (const key of pair) await items.update('moment', key, () => item(`${version}`))
      }
    })()
    const newer: number[] = []
    for (let round = 0; round < 40; round++) {
      const places = parsed(
        textOfPage(await items.list('moment', round % 2 === 0 ? {} : { limit: 300 })),
      ).map(placeOf)
      t.equal(places.length, 300)
      newer.push((places[0] ?? NaN) - (places[299] ?? NaN))
    }
    over.abort()
    await writing
    for (const age of newer) t.ok(age === 0 || age === 1, String(age))
  })

  for (const limit of [undefined, 1000]) {
    t.test(
      `a longer list has what is there all the time, once and in order; limit ${limit}`,
      async (t) => {
        await filled
        const added = new Set<number>()
        let next = 0
        /**
         * Creates and deletes items between the others, before and after the position of the list.
         */
        const write = async () => {
          const places = range(9).map(
            () => ((next += 7) % 200) * 24 + (next % 2 === 0 ? 1 : 2) + 10,
          )
          for (const place of places) added.add(place)
          await create('many', places, 'added')
          // A limited list is full, so another item would break it off.
          await Promise.all(places.map((place) => items.delete('many', key(place))))
        }
        const parts = limit === undefined ? [write(), write()] : []
        const seen: number[] = []
        for await (const part of partsOf(await items.list('many', { limit }))) {
          seen.push(...parsed(part).map(placeOf))
          parts.push(write())
          if (limit !== undefined) await Promise.all(parts)
        }
        await Promise.all(parts)
        const others = seen.filter((place) => !added.has(place))
        t.strictSame(others, MANY.slice(0, limit))
        const inOrder = [...new Set(seen)].sort((left, two) => left - two)
        t.strictSame(seen, inOrder, 'in order, and each once')
      },
    )
  }

  t.test('the parts of a long list are short, whatever its items are like', async (t) => {
    await create('short', range(5000))
    const mixed = range(6100)
    await create('mixed', [...mixed.slice(0, 3000), ...mixed.slice(3100)])
    await create('mixed', mixed.slice(3000, 3100), LONG.repeat(16))
    for (const [owner, count, most] of [
      ['many', 1600, 30],
      ['short', 5000, 5],
      ['mixed', 6100, 40],
    ] as const) {
      const lengths: number[] = []
      let matches = 0
      for await (const part of partsOf(await items.list(owner))) {
        lengths.push(part.text.length)
        matches += parsed(part).length
      }
      t.equal(matches, count)
      t.ok(
        Math.max(...lengths) < 80_000,
        `the longest of ${lengths.length} has ${Math.max(...lengths)} characters`,
      )
      t.ok(lengths.length <= most, `${lengths.length} are not too short`)
    }
  })

  t.test('what is added to a long limited page while it is read breaks it off', async (t) => {
    await filled
    const list = await longList('many', 1000)
    await list.next()
    const places = MANY.slice(990, 1000).map((place) => place - 1)
    await create('many', places, 'added')
    const message = 'items were added to the page while it was read'
    await t.rejects(Array.fromAsync({ [Symbol.asyncIterator]: () => list }), {
      name: 'StoreUnavailable',
      message,
    })
    await Promise.all(places.map((place) => items.delete('many', key(place))))
  })

  t.test(
    'what is deleted from a long limited page while it is read leaves its cursor right',
    async (t) => {
      await filled
      const page = await items.list('many', { limit: 1000 })
      await Promise.all(MANY.slice(990, 1000).map((place) => items.delete('many', key(place))))
      t.strictSame(await placesOf(page), MANY.slice(0, 990))
      t.strictSame(await placesOf(items.list('many', { cursor: page.next })), MANY.slice(1000))
      await create('many', MANY.slice(990, 1000), LONG)
    },
  )

  t.test('lists that nobody reads to the end leave nothing open, and hold up nobody', async (t) => {
    await filled
    for (const place of range(80)) {
      const list = await longList('many')
      if (place % 2 === 0) await list.next()
      if (place % 4 === 0) await list.return?.()
    }
    t.equal((await placesOf(items.list('many'))).length, MANY.length)
    t.equal(store.stats().pool?.used ?? 0, 0)
  })

  t.test('the steps of long lists take turns by their owners', async (t) => {
    await filled
    await create('other', range(400), LONG)
    const over = new AbortController()
    let [steps, most] = [0, 0]
    const isOver = () => over.signal.aborted
    const readMany = async () => {
      for await (const _ of partsOf(await items.list('many'))) {
        steps += 1
        if (isOver()) break
      }
    }
    const reading = range(64).map(async () => {
      // On a busy machine one of so many lists may be refused.
      while (!isOver()) await readMany().catch((error: unknown) => t.ok(error instanceof StoreBusy))
    })
    while (steps < 200) await nextTurn()
    const count = async (read: () => Promise<unknown>) => {
      const before = steps
      await read()
      most = Math.max(most, steps - before)
    }
    for (let round = 0; round < 5; round++) {
      await count(() => read(items.list('other', { limit: 20 })))
      const list = await longList('other')
      for (let part = 0; part < 6; part++) await count(() => list.next())
      await list.return?.()
    }
    over.abort()
    await Promise.all(reading)
    t.ok(most <= 20, `at most ${most} of ${steps} steps of another owner come between`)
  })

  t.test('pages of any length together give the whole list', async (t) => {
    // More than one step of a long list.
    const ids = range(1600)
    await create('pages', ids, LONG)
    for (const limit of [63, 64, 65, 499, 500, 501, 999, 1000, 1001, 1599, 1600, 1601, undefined]) {
      const seen: number[] = []
      for (let cursor: string | undefined, pages = 1; ; pages++) {
        const page = await items.list('pages', { cursor, limit })
        seen.push(...(await placesOf(page)))
        cursor = page.next
        if (cursor === undefined) break
        t.equal(seen.length, pages * (limit ?? NaN), 'full pages')
      }
      t.strictSame(seen, ids, `limit ${limit}`)
    }
  })
}
