// The tests from a contract, on a second product with two collections, one of them with strings as keys. They run
// on both stores.
import { testContract } from '@plant-store/testing'
import t from 'tap'
import { startPostgres } from '../../../test/support/postgres/server.ts'
import { product } from '../../../test/support/product/product.ts'

const server = await startPostgres(t)
const DATABASE_URL = await server.createDatabase()

await testContract(product)
await testContract(product, { DATABASE_URL })
