// The contract of the tests' own product.
import { allowOf as allowedBy, contractOf } from './contract.ts'
import * as documented from './documented.ts'
import { product } from './product/product.ts'

const contract = contractOf(product)

type Answered = Parameters<typeof documented.faultOf> extends [unknown, ...infer Rest] ? Rest : never

/** Its path. */
export const OPENAPI = contract.file
export const { operations, paths } = contract

/** The methods of a path, as `Allow` names them. */
export function allowOf(path: string): string {
  return allowedBy(contract, path)
}

/** Fails if the contract does not document every part of an answer. */
export function assertDocumented(...answered: Answered): void {
  documented.assertDocumented(contract, ...answered)
}

/** Says what the contract does not document of an answer; undefined if it documents everything. */
export function faultOf(...answered: Answered): string | undefined {
  return documented.faultOf(contract, ...answered)
}
