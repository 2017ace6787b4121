// @plant-store/testing 1.0.0, written by `npm run released`
import type http from 'node:http'
import type { IncomingHttpHeaders } from 'node:http'
import type { Product } from '@plant-store/engine'
export interface Answer extends Omit<RawResponse, 'length'> {
  readonly json: unknown
}
export interface Call {
  readonly method?: string
  readonly path: string
  readonly token?: string
  readonly headers?: http.OutgoingHttpHeaders | readonly string[]
  readonly body?: unknown
  readonly failing?: boolean
  readonly agent?: http.Agent
}
export type Environment = Readonly<Record<string, string>>
export interface Owner {
  testdir(): string
  teardown(end: () => unknown): void
}
interface RawResponse {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
  readonly length: number
}
export interface RunOptions {
  readonly first?: RegExp
}
export interface StartedProduct {
  readonly port: number
  readonly log: readonly Readonly<Record<string, unknown>>[]
  readonly token: (caller: string, lifetime?: number, scopes?: readonly string[]) => Promise<string>
  readonly call: (request: Call) => Promise<Answer>
}
export declare const runTests: (options?: RunOptions) => Promise<void>
export declare const startProduct: (
  t: Owner,
  product: Product,
  environment?: Environment,
) => Promise<StartedProduct>
export declare const testContract: (product: Product, environment?: Environment) => Promise<void>
export {}
