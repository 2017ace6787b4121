// The types of a compiled contract: `npm run generate` writes it as plain values, so a start need
// not parse YAML.
import type { Schema } from '@plant-store/json-schema'
import type { Template } from './error-templates.ts'

export interface Compiled {
  readonly title: string
  /**
   * The SHA-256 of each file of the contract, by its path relative to the folder of the main file.
   */
  readonly sources: Readonly<Record<string, string>>
  /** The document, if several files were bundled. */
  readonly bundle: string | null
  /** The served document, if schemas with `x-internal: true` are left out of it. */
  readonly published?: string | undefined
  /** The position of the default of the server variable `base_url` in the served document. */
  readonly baseUrl: readonly [from: number, to: number] | null
  /** The path of the servers, such as `/v1`; empty if they have none. */
  readonly prefix: string
  /**
   * The origins of the identity providers for sign-in on the docs page, from the URLs of the
   * security schemes.
   */
  readonly providers: readonly string[]
  readonly operations: readonly Operation[]
  /** By id. Operations, and `$ref` in schemas, refer to these ids. */
  readonly schemas: Readonly<Record<string, Schema>>
  /** The ids of the schemas of stored items, by their names in `components/schemas`. */
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
  readonly generated: string
  /** Never set: it carries type parameters for TypeScript. */
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
  /** The formats of built-in errors, by status, range or `default`. Empty if all are usual. */
  readonly errors: Readonly<Record<string, ErrorFormat>>
}

/**
 * A built-in error: its media type, and how its body is written. A string, JSON of a known form (`KNOWN_FORMS` in
 * error-forms.ts), or a template for the schema with this id. `product`: only the `errorBody` of the product can write it.
 */
export type ErrorFormat =
  | { readonly type: string; readonly form: 'product'; readonly schema: string }
  | {
      readonly type: string
      readonly form: 'template'
      readonly schema: string
      readonly template: Template
      /** The templates of single statuses. */
      readonly statuses?: Readonly<Record<number, Template>>
    }
  | { readonly type: string; readonly form: 'text' | 'error' | 'problem' | 'code' | 'message' }

export interface SecurityScheme {
  /** Its name in `components/securitySchemes`. */
  readonly name: string
  /** `bearer` and `apiKey` take tokens of the service; `other` needs a guard of the product. */
  readonly type: 'bearer' | 'apiKey' | 'other'
  /** The place of its credentials. */
  readonly in: 'header' | 'query' | 'cookie' | 'connection'
  /** The name of the header (in lower case), of the query parameter or of the cookie. */
  readonly key: string
  /** The authentication scheme of its challenge (RFC 9110, section 11.1). */
  readonly challenge: string
}

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
  /**
   * Whether an empty value counts as not sent, if its schema refuses it (OpenAPI 3.1.0, section
   * 4.8.12.2).
   */
  readonly allowEmptyValue?: true
  /**
   * The encoding of a parameter, unless it is one string, or one for each item of a list (section
   * 4.8.12.2.1). `list`: a list, as `1,2`. `pairs`: an object, as `b,1,c,2`. `assignments`: an
   * object, as `b=1,c=2`. `members`: an object, its properties sent by name, as `b=1&c=2`.
   * `deepObject`: an object, as `a[b]=1&a[c]=2`. `json`: as JSON.
   */
  readonly sentAs?: 'list' | 'pairs' | 'assignments' | 'members' | 'deepObject' | 'json'
  /** The names of the properties of a parameter sent as `members`. */
  readonly members?: readonly string[]
  /** For `members` with properties of any name: the query names of other parameters. */
  readonly reserved?: readonly string[]
}

export interface Body {
  readonly required: boolean
  readonly content: Readonly<Record<string, Media>>
}

/**
 * How bodies are read and written: as JSON, as text in UTF-8, as a form in parts or in a query
 * string, or as bytes.
 */
export type BodyKind = 'json' | 'text' | 'multipart' | 'urlencoded' | 'bytes'

export interface Media {
  readonly kind: BodyKind
  /** The id of its schema; null if every body is valid. */
  readonly schema: string | null
  /** In bytes. */
  readonly limit: number
}

export type Response = Readonly<Record<string, ResponseMedia>>

export interface ResponseMedia extends Pick<Media, 'kind' | 'schema'> {
  /**
   * Whether it is a stream of server-sent events. `kind` and `schema` are then those of an event's
   * data.
   */
  readonly events?: true
}

/**
 * Marks a property as sent by one side only, or as having a default. Written by `npm run generate`.
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
