// The hooks of a product: functions for the security schemes, errors and formats that only the product knows.
import type { FastifyRequest } from 'fastify'
import type { ErrorOrigin } from '../http/error-answers.ts'
import type { Formats } from '@plant-store/json-schema'

/**
 * The sender of a request, as the guard of a product has identified it.
 * @example
 * ```ts
 * import type { Identity } from '@plant-store/engine'
 *
 * export const reader: Identity = { caller: 'reader-7', scopes: ['notes:read'] }
 * ```
 */
export interface Identity {
  /**
   * 1 to 255 characters without control characters. The methods get it as `#<scheme>#<caller>`: it
   * is never the caller of another scheme, of an access token or of a JWT. Without this member, the
   * credentials name nobody, and only prove something, such as the application that is used.
   */
  readonly caller?: string
  /** The scopes of the credentials (RFC 6749, section 3.3). */
  readonly scopes: readonly string[]
}

/**
 * Checks the credentials of a security scheme, before the body is read. It is called only if the request has them exactly once.
 * If the guard throws, the answer is 500 without details: the service can't know whether a second try would help.
 * @param request for its headers, its query and its connection. It has no body yet
 * @param credentials the text after the scheme's name in `Authorization`, or the text of an apiKey; empty for mutualTLS
 * @param signal aborts when the guard is given up: after `REQUEST_TIMEOUT`, or when the client has left or the service ends
 * @returns undefined if the credentials are not valid: 401. For mutualTLS, undefined means that there is no certificate
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

/** The types of security schemes that may have tokens of the service. */
export type TokenType = 'bearer' | 'apiKey'

/** The hooks of a product. */
export interface ProductHooks {
  /**
   * The types of security schemes whose tokens the service checks itself, where the product has no guard. Both types: it
   * has a store, and so access tokens of its own. Only `bearer`: it takes JWTs of an identity provider. Absent: both types.
   */
  readonly tokenTypes?: readonly TokenType[]
  /** By the name of the security scheme. A guard replaces the service's own guard of the scheme. */
  readonly guards?: Readonly<Partial<Record<string, ProductGuard>>>
  /**
   * Writes the JSON body of the service's own errors, where no form that the service knows fits the schema.
   * @param status from 400 to 599
   * @param message for people
   * @param origin the request that has the error. Its operation tells forms apart, where operations have different ones
   */
  readonly errorBody?: (status: number, message: string, origin: ErrorOrigin) => unknown
  /** The collections of the product, by name: the schema of the items in `components/schemas`, and the type of the keys. */
  readonly collections?: Readonly<
    Record<string, { readonly schema: string; readonly key: 'int64' | 'text' }>
  >
  /**
   * The operations of the contract that are not served: each by its `operationId`, or by its method and path, such as
   * `GET /users`, if it has none. Their paths are 404, and their methods are not needed.
   */
  readonly without?: readonly string[]
  /**
   * The widest folder of the files that a `$ref` of the contract may lead to, relative to the folder of the contract. Absent:
   * the folder of the contract itself. What a `$ref` leads to is published.
   */
  readonly refsWithin?: string
  /** Checks of texts, by the name of the `format` that a schema gives them. */
  readonly formats?: Formats
}
