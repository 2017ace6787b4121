// Methods without a network, on a store in memory: a test of their decisions takes milliseconds.
import t from 'tap'
import { PlantService } from '../service/plant-service.ts'
import { product } from '../service/product.ts'
import { testStore } from '@plant-store/store'

/** A request without parts. A test adds the parts of its method. */
const REQUEST = {
  caller: 'ann',
  scopes: new Set<string>(),
  log: console,
  signal: new AbortController().signal,
  path: undefined,
  query: undefined,
  header: undefined,
  cookie: undefined,
  body: undefined,
  type: undefined,
}

t.test('a create of another plant with the same id changes nothing', async (t) => {
  const { plants } = await testStore(product)
  const service = new PlantService(plants)
  const create = (name: string) => service.createPayout({ ...REQUEST, body: { id: 7n, name } })
  t.match(await create('Monstera'), { status: 200 })
  t.match(await create('Ficus'), { status: 409 })
  t.strictSame(await plants.find('ann', 7n), { name: 'Monstera' })
})

t.test('a delete is done once', async (t) => {
  const { plants } = await testStore(product)
  const service = new PlantService(plants)
  await plants.create('ann', 7n, { name: 'Monstera' })
  const remove = async () => service.deletePayout({ ...REQUEST, path: { id: 7n } })
  t.match([await remove(), await remove()], [{ status: 204 }, { status: 404 }])
})
