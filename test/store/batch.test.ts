import { setImmediate as nextTurn } from 'node:timers/promises'
import t from 'tap'
import { Batcher, type Batched, type BatchOptions } from '../../service/store/batch.ts'

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

t.test('an eager batcher begins an item that arrives by itself at once', async (t) => {
  const { begun, ends, batches } = batcher({ eager: true })
  for (const [at, item] of ['a', 'b'].entries()) {
    const answer = batches.add(item)
    t.strictSame([begun.at(-1), batches.waiting], [[item], 0])
    ends[at]?.resolve(undefined)
    t.equal(await answer, `${item} is done`)
    await nextTurn()
  }
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

t.test('several batches run at the same time, if `parallel` allows it', async (t) => {
  const { begun, ends, batches } = batcher({ max: 1, parallel: 2 })
  for (const item of ['a', 'b', 'c']) void batches.add(item)
  await nextTurn()
  await nextTurn()
  await nextTurn()
  t.strictSame([begun, batches.waiting], [[['a'], ['b']], 1])
  ends[1]?.resolve(undefined)
  await nextTurn()
  await nextTurn()
  t.strictSame(begun, [['a'], ['b'], ['c']])
})

t.test('items with the same key go into different batches, in their order, and do not delay other items', async (t) => {
  const { begun, ends, batches } = batcher({ max: 2, getKey: ([key = '']) => key })
  for (const item of ['a1', 'a2', 'a3', 'b1', 'b2', 'c1']) void batches.add(item)
  for (let round = 0; round < 4; round++) {
    await nextTurn()
    ends[round]?.resolve(undefined)
    await nextTurn()
  }
  t.strictSame(begun, [
    ['a1', 'b1'],
    ['a2', 'b2'],
    ['a3', 'c1'],
  ])
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

t.test('between two short batches the event loop runs other work', async (t) => {
  const begun: number[] = []
  let turn = 0
  const batches = new Batcher<string, boolean>(
    (batch) => {
      begun.push(turn)
      for (const { resolve } of batch) resolve(true)
    },
    { max: 1 },
  )
  for (const item of ['a', 'b', 'c']) void batches.add(item)
  for (; turn < 3; turn++) await nextTurn()
  await batches.idle()
  t.strictSame(begun, [0, 1, 2])
})
