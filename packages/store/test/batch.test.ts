// Batches: how items are gathered, share their costs, and are refused after too long a wait.
import { setImmediate as nextTurn } from 'node:timers/promises'
import t from 'tap'
import { Batcher, type Batched, type BatchOptions } from '../src/core/batch.ts'

type Batch = readonly Batched<string, string>[]

/** A batcher whose batches end when the test says so, and a record of the begun ones. */
function batcher(options: Partial<BatchOptions<string>> = {}) {
  const begun: string[][] = []
  const ends: PromiseWithResolvers<undefined>[] = []
  const run = async (batch: Batch) => {
    begun.push(batch.map(({ item }) => item))
    const end = Promise.withResolvers<undefined>()
    ends.push(end)
    await end.promise
    for (const { item, resolve } of batch) resolve(`${item} is done`)
  }
  /** Ends a batch, and waits until the next one has begun. */
  const end = async (index: number) => {
    ends[index]?.resolve(undefined)
    await nextTurn()
    await nextTurn()
  }
  return { begun, end, batches: new Batcher<string, string>(run, { maxCost: 100, ...options }) }
}

t.test(
  'an isEager batcher begins at once, but gathers items again after a turn with several',
  async (t) => {
    const { begun, end, batches } = batcher({ isEager: true })
    for (const item of ['a', 'b', 'c']) void batches.add(item)
    t.strictSame([begun, batches.waiting], [[['a']], 2])
    await end(0)
    await end(1)
    for (const item of ['d', 'e']) void batches.add(item)
    t.strictSame(begun, [['a'], ['b', 'c']], 'it does not begin before the turn is over')
    await nextTurn()
    t.strictSame(begun, [['a'], ['b', 'c'], ['d', 'e']])
  },
)

t.test('an item that needs no run is not added if it would begin at once', async (t) => {
  const { begun, end, batches } = batcher({ isEager: true })
  t.equal(batches.addUnlessAlone('a'), undefined)
  const second = batches.addUnlessAlone('b')
  await nextTurn()
  t.strictSame(begun, [['b']], 'the second one of a turn is added')
  await end(0)
  t.equal(await second, 'b is done')
  const third = batches.addUnlessAlone('c')
  t.not(third, undefined, 'and so is the first one after a turn with several')
  await nextTurn()
  await end(1)
  t.equal(batches.addUnlessAlone('d'), undefined)
})

t.test(
  'items that arrive while a batch is under way are the next batch, up to its maximum',
  async (t) => {
    const { begun, end, batches } = batcher({ maxCost: 2 })
    void batches.add('a')
    await nextTurn()
    for (const item of ['b', 'c', 'd']) void batches.add(item)
    await nextTurn()
    t.strictSame([begun, batches.waiting], [[['a']], 3])
    await end(0)
    t.strictSame([begun, batches.waiting], [[['a'], ['b', 'c']], 1])
    const idle = batches.idle()
    await end(1)
    await end(2)
    await idle
    t.strictSame(begun, [['a'], ['b', 'c'], ['d']])
    await batches.idle()
  },
)

t.test('an item without a cost is refused, and holds up nobody', async (t) => {
  const costOf = (item: string) => {
    if (item === 'broken') throw new TypeError(item)
    return 1
  }
  const { begun, batches } = batcher({ costOf })
  void batches.add('a')
  t.throws(() => batches.add('broken'), TypeError)
  void batches.add('b')
  await nextTurn()
  t.strictSame([begun, batches.waiting], [[['a', 'b']], 0])
})

/** The items `a3` and `b1` have the costs 3 and 1, and belong to a and b. */
const shares = {
  costOf: (item: string) => Number(item.slice(1)),
  flowOf: (item: string) => item.slice(0, 1),
}
for (const [what, options, items, expected] of [
  [
    'a batch has the cost that it may have, but at least one item',
    { ...shares, flowOf: () => '', maxCost: 10 },
    'a6 b4 c1 d30 e9 f2',
    'a6 b4|c1|d30|e9|f2',
  ],
  [
    'a share has no more of a batch than it may have, keeps its order, and does not delay others',
    { ...shares, maxCost: 12, maxCostOfFlow: 4 },
    'a2 a3 a1 a9 b4 b1 c1',
    'a2 b4 c1|a3 a1 b1|a9',
  ],
  [
    'shares take turns: who came first does not come first again',
    { ...shares, maxCost: 1 },
    'a1 a2 a3 b1 b2 c1',
    'a1|b1|c1|a2|b2|a3',
  ],
] as const) {
  t.test(what, async (t) => {
    const { begun, end, batches } = batcher(options)
    for (const item of items.split(' ')) void batches.add(item)
    await nextTurn()
    for (let ended = 0; ended < begun.length; ended++) await end(ended)
    t.equal(begun.map((batch) => batch.join(' ')).join('|'), expected)
  })
}

t.test('items are refused when nearly all of their time is over, and others are not', async (t) => {
  const { begun, end, batches } = batcher({ timeout: 80_000, maxCost: 2 })
  void batches.add('a')
  await nextTurn()
  const now = performance.now()
  const alive = setInterval(() => undefined, 1000)
  t.teardown(() => clearInterval(alive))
  const late = [
    batches.add('late', now),
    batches.add('nearly', now + 9000),
    batches.add('soon', now + 10_100),
  ]
  for (const item of ['b', 'c']) void batches.add(item)
  const reason = { name: 'StoreUnavailable', message: 'too many requests wait' }
  t.match(await Promise.allSettled(late), Array(3).fill({ status: 'rejected', reason }))
  t.ok(
    performance.now() < now + 10_000,
    'an eighth of the time before the last one had to be settled',
  )
  await end(0)
  t.strictSame(
    [begun, batches.waiting],
    [[['a'], ['b', 'c']], 0],
    'they take no place in the batch',
  )
})

t.test('items with most of their time left go before older ones of their share', async (t) => {
  const { begun, end, batches } = batcher({ timeout: 60_000, maxCost: 1, isFreshFirst: true })
  const now = performance.now()
  for (const [item, left] of Object.entries({ d: 58, b: 25, c: 50, a: 20 }))
    void batches.add(item, now + left * 1000)
  await nextTurn()
  for (let ended = 0; ended < begun.length; ended++) await end(ended)
  t.strictSame(
    begun.flat(),
    ['c', 'd', 'a', 'b'],
    'of both kinds, those that must be settled first',
  )
})
