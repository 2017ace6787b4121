// The types of a compiled contract: `npm run generate` writes it as plain values, so that a start need not parse YAML.
import type { Schema } from '@plant-store/json-schema'

export interface Compiled {
  readonly title: string
  /** The SHA-256 of each file of the contract, by its path relative to the folder of the main file. */
  readonly sources: Readonly<Record<string, string>>
  /** The served document, if it is a bundle of several files. */
  readonly bundle: string | null
  /** The position of the default of the server variable `base_url` in the served document. */
  readonly baseUrl: readonly [from: number, to: number] | null
  /** The path of the servers, such as `/v1`; empty if they have none. */
  readonly prefix: string
  /** The origins of the identity providers that the docs page signs in at: those of the addresses in its security schemes. */
  readonly providers: readonly string[]
  readonly operations: readonly Operation[]
  /** By id. Operations, and `$ref` in schemas, refer to these ids. */
  readonly schemas: Readonly<Record<string, Schema>>
  /** The ids of the schemas of the items that the product stores, by their names in `components/schemas`. */
  readonly items: Readonly<Record<string, string>>
}

/**
 * The contract in `contract.gen.ts`: compiled, with its types and the paths of its files.
 * @example
 * ```ts
 * import { contract } from './contract.gen.ts'
 * import type { CompiledContract } from '@plant-store/engine'
 *
 * export const { title, operations }: CompiledContract = contract
 * ```
 */
export interface CompiledContract<
  Components = unknown,
  Operations = unknown,
  Schemes = unknown,
> extends Compiled {
  /** The file URL of the OpenAPI document. */
  readonly file: string
  /** The path of the generated file. */
  readonly generated: string
  /** Only for the compiler. */
  readonly types?: {
    readonly components: Components
    readonly operations: Operations
    readonly schemes: Schemes
  }
}

export interface Operation {
  readonly id: string
  /** In capital letters. */
  readonly method: string
  /** Begins with `prefix`. The names of parameters are in braces. */
  readonly path: string
  /** The alternatives: a request must satisfy one of them. Empty: no credentials are needed. */
  readonly security: readonly (readonly Requirement[])[]
  readonly parameters: readonly Parameter[]
  readonly body: Body | null
  /** By status, range (`4XX`) or `default`. */
  readonly responses: Readonly<Record<string, Response>>
  /** The formats of the service's own errors, by status, range or `default`. There are none if all are usual. */
  readonly errors: Readonly<Record<string, ErrorFormat>>
}

/**
 * An error of the service itself: its media type, and the writer of its body. The product writes the body by the schema with
 * this id. Or the service writes it, as a text, or as JSON of a known form (see `KNOWN_FORMS` in error-forms.ts).
 */
export type ErrorFormat =
  | { readonly type: string; readonly form: 'product'; readonly schema: string }
  | { readonly type: string; readonly form: 'text' | 'error' | 'problem' | 'code' | 'message' }

/** A security scheme of the contract. */
export interface SecurityScheme {
  /** Its name in `components/securitySchemes`. */
  readonly name: string
  /** Tokens of the service are taken as `bearer` and `apiKey`. For others, the product must have a guard. */
  readonly type: 'bearer' | 'apiKey' | 'other'
  /** Where its credentials are. */
  readonly in: 'header' | 'query' | 'cookie' | 'connection'
  /** The name of the header (in lower case), of the query parameter or of the cookie. */
  readonly key: string
  /** The authentication scheme of its challenge (RFC 9110, section 11.1). */
  readonly challenge: string
}

/** The credentials that an operation requires, and the scopes that they must have. */
export interface Requirement {
  readonly scheme: SecurityScheme
  readonly scopes: readonly string[]
}

export interface Parameter {
  readonly in: 'path' | 'query' | 'header' | 'cookie'
  readonly name: string
  readonly required: boolean
  /** The id of its schema. */
  readonly schema: string
  /** Whether an empty text that its schema refuses is as if it had not been sent (OpenAPI 3.1.0, section 4.8.12.2). */
  readonly allowEmptyValue?: true
  /**
   * How a parameter is sent that is neither one text, nor a text for each item of a list (section 4.8.12.2.1). `list`: a
   * list, as `1,2`. `pairs`: an object, as `b,1,c,2`. `assignments`: an object, as `b=1,c=2`. `members`: an object, by the
   * names of its members, as `b=1&c=2`. `deepObject`: an object, as `a[b]=1&a[c]=2`. `json`: as JSON.
   */
  readonly sentAs?: 'list' | 'pairs' | 'assignments' | 'members' | 'deepObject' | 'json'
  /** The names of the members, if it is sent by them. */
  readonly members?: readonly string[]
  /** If it is sent by its members, and they may have any other name, too: the names that the query has for something else. */
  readonly reserved?: readonly string[]
}

/** A request body, by media type. */
export interface Body {
  readonly required: boolean
  readonly content: Readonly<Record<string, Media>>
}

/** How bodies are read and written: as JSON, as text in UTF-8, as a form in parts or as a query, or as bytes. */
export type BodyKind = 'json' | 'text' | 'multipart' | 'urlencoded' | 'bytes'

export interface Media {
  readonly kind: BodyKind
  /** The id of its schema; null if every body is valid. */
  readonly schema: string | null
  /** The maximum length in bytes. */
  readonly limit: number
}

/** A response, by media type. */
export type Response = Readonly<Record<string, ResponseMedia>>

export interface ResponseMedia extends Pick<Media, 'kind' | 'schema'> {
  /** Whether it is a stream of server-sent events. The kind and the schema are then those of the data of an event. */
  readonly events?: true
}

/**
 * The mark that `npm run generate` puts on a member that only one side sends, or that has a default.
 * @example
 * ```ts
 * import type { Mark } from '@plant-store/engine'
 *
 * export interface Note {
 *   text: string
 *   created: Mark<string, 'readOnly'>
 * }
 * ```
 */
export interface Mark<Value, Name = 'readOnly' | 'writeOnly' | 'default'> {
  readonly $mark: Name
  readonly $value: Value
}
