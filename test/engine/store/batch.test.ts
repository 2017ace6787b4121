import { setImmediate as nextTurn } from 'node:timers/promises'
import t from 'tap'
import { Batcher, type Batched, type BatchOptions } from '../../../service/engine/store/batch.ts'

type Batch = readonly Batched<string, string>[]

/** A batcher with batches that the test ends, and a record of the batches that began. */
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
  return { begun, ends, batches: new Batcher<string, string>(run, { max: 100, ...options }) }
}

t.test('items that arrive in one turn of the event loop are one batch', async (t) => {
  const { begun, ends, batches } = batcher()
  const answers = ['a', 'b'].map((item) => batches.add(item))
  t.strictSame([begun, batches.waiting], [[], 2], 'it does not begin before the turn is over')
  await nextTurn()
  t.strictSame([begun, batches.waiting], [[['a', 'b']], 0])
  ends[0]?.resolve(undefined)
  t.strictSame(await Promise.all(answers), ['a is done', 'b is done'])
})

t.test('an eager batcher gathers items again after a turn with several', async (t) => {
  const { begun, ends, batches } = batcher({ eager: true })
  const answers = ['a', 'b', 'c'].map((item) => batches.add(item))
  t.strictSame([begun, batches.waiting], [[['a']], 2])
  ends[0]?.resolve(undefined)
  await nextTurn()
  t.strictSame([begun, batches.waiting], [[['a'], ['b', 'c']], 0])
  ends[1]?.resolve(undefined)
  t.strictSame(await Promise.all(answers), ['a is done', 'b is done', 'c is done'])

  const more = ['d', 'e'].map((item) => batches.add(item))
  t.strictSame([begun.length, batches.waiting], [2, 2], 'it does not begin before the turn is over')
  await nextTurn()
  t.strictSame(begun[2], ['d', 'e'])
  ends[2]?.resolve(undefined)
  await Promise.all(more)
})

t.test('items that arrive while a batch is under way are the next batch, up to its maximum', async (t) => {
  const { begun, ends, batches } = batcher({ max: 2 })
  void batches.add('a')
  await nextTurn()
  for (const item of ['b', 'c', 'd']) void batches.add(item)
  await nextTurn()
  t.strictSame([begun, batches.waiting], [[['a']], 3])
  ends[0]?.resolve(undefined)
  await nextTurn()
  await nextTurn()
  t.strictSame([begun, batches.waiting], [[['a'], ['b', 'c']], 1])
  const idle = batches.idle()
  ends[1]?.resolve(undefined)
  await nextTurn()
  await nextTurn()
  ends[2]?.resolve(undefined)
  await idle
  t.strictSame(begun, [['a'], ['b', 'c'], ['d']])
  await batches.idle()
})

/** Ends the batches one after the other. @returns all that began */
async function runAll({ begun, ends }: Pick<ReturnType<typeof batcher>, 'begun' | 'ends'>): Promise<string[][]> {
  for (let ended = 0; ended < begun.length || ended === 0; ended++) {
    await nextTurn()
    ends[ended]?.resolve(undefined)
    await nextTurn()
    await nextTurn()
  }
  return begun
}

const weighed = { weigh: (item: string) => Number(/\d+/.exec(item)?.[0]), shareOf: ([share = '']: string) => share }

t.test('a batch has the weight that it may have, but at least one item', async (t) => {
  const { batches, ...batch } = batcher({ ...weighed, shareOf: () => '', max: 10 })
  for (const item of ['a6', 'b4', 'c1', 'd30', 'e9', 'f2']) void batches.add(item)
  t.strictSame(await runAll(batch), [['a6', 'b4'], ['c1'], ['d30'], ['e9'], ['f2']])
})

t.test('a share has no more of a batch than it may have, keeps its order, and does not delay others', async (t) => {
  const { batches, ...batch } = batcher({ ...weighed, max: 12, maxShare: 4 })
  for (const item of ['a2', 'a3', 'a1', 'a9', 'b4', 'b1', 'c1']) void batches.add(item)
  t.strictSame(await runAll(batch), [['a2', 'b4', 'c1'], ['a3', 'a1', 'b1'], ['a9']])
})

t.test('shares take turns: who came first does not come first again', async (t) => {
  const { batches, ...batch } = batcher({ ...weighed, max: 1, maxShare: 1 })
  for (const item of ['a1', 'a2', 'a3', 'b1', 'b2', 'c1']) void batches.add(item)
  const begun = runAll(batch)
  await nextTurn()
  void batches.add('d1') // after the first batch began
  t.strictSame((await begun).flat(), ['a1', 'b1', 'c1', 'a2', 'd1', 'b2', 'a3'])
})

t.test('items that have waited for nearly all of their time are refused, and the others are not', async (t) => {
  const { begun, ends, batches } = batcher({ timeout: 1000, max: 2 })
  const first = batches.add('a')
  await nextTurn()
  const now = performance.now()
  const refused = { name: 'StoreUnavailable', message: 'too many requests wait' }
  const late = t.rejects(batches.add('late', now), refused)
  const nearly = t.rejects(batches.add('nearly', now + 100), refused)
  const others = [batches.add('b', now + 60_000), batches.add('c')]
  ends[0]?.resolve(undefined)
  await Promise.all([first, late, nearly])
  await nextTurn()
  t.strictSame(begun, [['a'], ['b', 'c']], 'they take no place in the batch')
  ends[1]?.resolve(undefined)
  await Promise.all([...others, batches.idle()])
  t.equal(batches.waiting, 0)
})

t.test('an item whose turn does not come is refused in time', async (t) => {
  const { ends, batches } = batcher({ timeout: 200, max: 1 })
  const first = batches.add('a')
  await nextTurn()
  const begun = performance.now()
  const alive = setInterval(() => undefined, 1000)
  t.teardown(() => clearInterval(alive))
  await t.rejects(batches.add('b'), { message: 'too many requests wait' })
  t.ok(performance.now() - begun < 200)
  t.equal(batches.waiting, 0)
  ends[0]?.resolve(undefined)
  await Promise.all([first, batches.idle()])
})

t.test('a failed batch rejects its items that are not settled, and the next batch begins', async (t) => {
  for (const isAsync of [true, false]) {
    const run = (batch: Batch) => {
      batch[0]?.resolve('answered')
      const error = batch.length > 1 ? new Error('broken') : undefined
      if (isAsync) return error ? Promise.reject(error) : Promise.resolve()
      if (error) throw error
      return undefined
    }
    const batches = new Batcher(run, { max: 2 })
    const settled = await Promise.allSettled(['a', 'b', 'c'].map((item) => batches.add(item)))
    const answered = { status: 'fulfilled', value: 'answered' }
    t.match(settled, [answered, { status: 'rejected', reason: { message: 'broken' } }, answered])
  }
})
