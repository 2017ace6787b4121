// Batches by owner, for databases that shard.
import { setImmediate as nextTurn } from 'node:timers/promises'
import t from 'tap'
import { type Batched, Batcher } from '../../src/core/batch.ts'
import { OwnerBatchers } from '../../src/postgres/owner-batchers.ts'

interface Item {
  readonly owner: string
  readonly name: string
}

t.test(
  'each owner has batches of its own, and nothing is kept of an owner that is idle',
  async (t) => {
    const begun: string[] = []
    let created = 0
    let end = Promise.withResolvers<undefined>()
    const run = async (batch: readonly Batched<Item, string>[]) => {
      begun.push(batch.map(({ item }) => item.name).join())
      await end.promise
      for (const { item, resolve } of batch) resolve(item.name)
    }
    const batchers = new OwnerBatchers<Item, string>(() => {
      created += 1
      return new Batcher(run, { maxCost: 10 })
    })
    const add = (name: string) => batchers.add({ owner: name.charAt(0), name })

    const first = ['a1', 'b1', 'a2'].map(add)
    await nextTurn()
    t.strictSame(begun, ['a1,a2', 'b1'])
    const second = ['a3', 'b2', 'a4'].map(add)
    await nextTurn()
    t.equal(batchers.waiting, 3, 'they wait for those before them')
    end.resolve(undefined)
    t.strictSame(await Promise.all([...first, ...second]), ['a1', 'b1', 'a2', 'a3', 'b2', 'a4'])
    t.strictSame(begun.slice(2), ['a3,a4', 'b2'])
    t.equal(created, 2)
    await batchers.idle()
    await nextTurn()

    end = Promise.withResolvers()
    const third = add('a5')
    t.equal(created, 3, 'a new one')
    end.resolve(undefined)
    t.equal(await third, 'a5')
  },
)
