// The hooks of a product: its functions for security schemes, errors and formats unknown to the
// engine.
import type { FastifyRequest } from 'fastify'
import type { ErrorOrigin } from '../http/error-answers.ts'
import type { IndexDefinitions } from '../index-types.ts'
import type { KeyType, StoredIndex } from '../store.ts'
import type { Formats } from '@plant-store/json-schema'

/**
 * The sender of a request, as identified by a guard of the product.
 * @example
 * ```ts
 * import type { Identity } from '@plant-store/engine'
 *
 * export const reader: Identity = { caller: 'reader-7', scopes: ['notes:read'] }
 * ```
 */
export interface Identity {
  /**
   * 1 to 255 characters without control characters. The methods get `#<scheme>#<caller>`, so it
   * never equals the caller of another scheme, of an access token or of a JWT. Absent: the
   * credentials name nobody, and only prove something, such as the application in use.
   */
  readonly caller?: string
  /** The scopes of the credentials (RFC 6749, section 3.3). */
  readonly scopes: readonly string[]
}

/**
 * Checks the credentials of a security scheme, before the body is read. It is called only if the
 * request has them exactly once. If the guard throws, the answer is 500 without details: the
 * service can't know whether a second try would help.
 * @param request for its headers, its query and its connection. It has no body yet
 * @param credentials the string after the scheme's name in `Authorization`, or the value of an
 * apiKey; empty for mutualTLS
 * @param signal aborts after `REQUEST_TIMEOUT`, or when the client has left or the service ends
 * @returns undefined for invalid credentials: 401. For mutualTLS, undefined means a connection
 * without certificate
 * @example
 * ```ts
 * import type { ProductGuard } from '@plant-store/engine'
 *
 * const CALLERS = new Map([['3f8a91', 'reader-7']])
 * export const checkKey: ProductGuard = (_request, credentials) => {
 *   const caller = CALLERS.get(credentials)
 *   return caller === undefined ? undefined : { caller, scopes: ['notes:read'] }
 * }
 * ```
 */
export type ProductGuard = (
  request: FastifyRequest,
  credentials: string,
  signal: AbortSignal,
) => Identity | undefined | Promise<Identity | undefined>

/** A collection of a product. */
export interface DefinedCollection {
  /** The name of the schema of its items in `components/schemas`. */
  readonly schema: string
  readonly key: KeyType
  readonly indexes?: IndexDefinitions
  /**
   * Adds the types of their values, by the contract of the last `npm run generate`.
   * @throws {StartupError} if an index does not fit it
   */
  readonly readIndexes?: () => Promise<readonly StoredIndex[]>
}

/** Collections by name. */
export type DefinedCollections = Readonly<Record<string, DefinedCollection>>

/** The types of security schemes with tokens of the service. */
export type TokenType = 'bearer' | 'apiKey'

export interface ProductHooks {
  /**
   * The types of security schemes for which the service checks tokens, where the product has no
   * guard. Both: access tokens in the product's store. Only `bearer`: JWTs of an identity provider.
   * Absent: both.
   */
  readonly tokenTypes?: readonly TokenType[]
  /** By the name of the security scheme. A guard replaces the built-in check of the scheme. */
  readonly guards?: Readonly<Partial<Record<string, ProductGuard>>>
  /**
   * Writes the JSON body of built-in errors, if their schema fits no form known to the engine.
   * @param status from 400 to 599
   * @param message for people
   * @param origin the failed request, with its operation: several operations may have different
   * forms
   */
  readonly errorBody?: (status: number, message: string, origin: ErrorOrigin) => unknown
  /** The collections of the product, by name. */
  readonly collections?: DefinedCollections
  /**
   * Operations of the contract to leave out: each by its `operationId`, or without one by method
   * and path, such as `GET /users`. Their paths are 404, and they need no methods.
   */
  readonly without?: readonly string[]
  /**
   * The widest folder for files named by a `$ref`, relative to the folder of the contract. Absent:
   * the folder of the contract itself. All referenced files are published.
   */
  readonly refsWithin?: string
  /** Checks of strings, by the name of their `format`. */
  readonly formats?: Formats
}
