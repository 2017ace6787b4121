// What a product adds to a contract: functions for what the document names, and the service can't know.
import type { FastifyRequest } from 'fastify'
import type { Formats } from '../json-schema/schema.ts'

/** Who sends a request, as a guard of a product has found out. */
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
 * Checks the credentials of a security scheme, before the body is read. It is called only if they are there, and there once.
 * If it throws, the answer is 500 without details: the service can't know whether a second try would help.
 * @param request for its headers, its query and its connection. It has no body yet
 * @param credentials what follows the scheme's name in `Authorization`, or the text of an apiKey; empty for mutualTLS
 * @returns undefined if they are not valid: 401. For mutualTLS it means that there is no certificate
 */
export type ProductGuard = (
  request: FastifyRequest,
  credentials: string,
) => Identity | undefined | Promise<Identity | undefined>

/** The types of security schemes that may have tokens of the service. */
export type TokenType = 'bearer' | 'apiKey'

export interface Extensions {
  /**
   * The types of security schemes whose tokens the service checks itself, where the product has no guard. All: it has a
   * store, and so access tokens of its own. Only `bearer`: JWTs of an identity provider. Both if absent.
   */
  readonly tokenTypes?: readonly TokenType[]
  /** By the name of the security scheme. It takes the place of the service's own guard of that scheme. */
  readonly guards?: Readonly<Partial<Record<string, ProductGuard>>>
  /**
   * Writes the JSON body of the service's own errors, where no form that the service knows fits the schema.
   * @param status from 400 to 599
   * @param message for people
   */
  readonly errorBody?: (status: number, message: string) => unknown
  /** What the product stores, by name: the schema of the items, of `components/schemas`, and the type of their keys. */
  readonly collections?: Readonly<
    Record<string, { readonly schema: string; readonly key: 'int64' | 'text' }>
  >
  readonly formats?: Formats
}
