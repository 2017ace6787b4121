// What the tests that come from a contract run on.
import { resolve } from 'node:path'
import type { Test } from 'tap'
import type { Product } from '../../service/engine/index.ts'
import { allowOf as allowedBy, contractOf } from '../support/contract.ts'
import { build, type Service } from '../support/helper.ts'

const { PRODUCT = 'service/product.ts', DATABASE_URL } = process.env

// The product of the project; second.test.ts names another one, and a database.
const { product }: { product: Product } = await import(resolve(PRODUCT))

const contract = contractOf(product)
export const { operations, paths } = contract
/** The methods of a path, as `Allow` names them. */
export const allowOf = allowedBy.bind(undefined, contract)

/** How many valid inputs of an operation are tried. */
export const INPUTS = DATABASE_URL === undefined ? 200 : 30

/** Starts the product. */
export function start(t: Test): Promise<Service> {
  return build(t, DATABASE_URL === undefined ? {} : { DATABASE_URL, DATABASE_TIMEOUT: '10' }, product)
}
