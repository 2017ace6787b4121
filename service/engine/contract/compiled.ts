// The types of a compiled contract: `npm run generate` writes it as plain values, so that a start need not parse YAML.
import type { Schema } from '../json-schema/schema.ts'

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
  readonly operations: readonly Operation[]
  /** By id. Operations, and `$ref` in schemas, refer to these ids. */
  readonly schemas: Readonly<Record<string, Schema>>
  /** The ids of the schemas of the items that the product stores, by their names in `components/schemas`. */
  readonly items: Readonly<Record<string, string>>
}

/** The contract in `contract.gen.ts`: compiled, with its types, and where it is. */
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
 * An error of the service itself: its media type, and who writes its body. That is the product, by the schema with this id; or
 * the service, as a text, or as JSON of a known form (see `KNOWN_FORMS` in error-forms.ts). Null: there is no body.
 */
export type ErrorFormat =
  | { readonly type: string; readonly form: 'product'; readonly schema: string }
  | { readonly type: string; readonly form: 'text' | 'error' | 'problem' | 'code' | 'message' }
  | null

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

/** How the texts of a parameter, or of a field of a form, are read. */
export interface Reading {
  /** The types that a text is parsed as, in this order; those of each item of a list. */
  readonly types: readonly string[]
  /** How a list is sent: as `a=1&a=2`, or as `a=1,2`. Either: one text may be a value, too. Null: it is not a list. */
  readonly list: 'repeated' | 'commas' | 'either' | null
  /** The id of its schema, where that is needed to choose between types. */
  readonly schema?: string
  /** The id of the schema of each item of a list, likewise. */
  readonly items?: string
}

export interface Parameter extends Reading {
  readonly in: 'path' | 'query' | 'header'
  readonly name: string
  readonly required: boolean
  /** The id of its schema. */
  readonly schema: string
}

/** A request body, by media type. */
export interface Body {
  readonly required: boolean
  readonly content: Readonly<Record<string, Media>>
}

export interface Media {
  /** The id of its schema; null if every body is valid. */
  readonly schema: string | null
  /** The maximum length in bytes. */
  readonly limit: number
  /** The fields of a form. */
  readonly fields?: Readonly<Record<string, Reading>>
  /** Any other field of a form. */
  readonly others?: Reading
}

/** The ids of the schemas of a response, by media type; null if every body is valid. */
export type Response = Readonly<Record<string, string | null>>

/** The mark that `npm run generate` puts on a member that only one side sends, or that has a default. */
export interface Mark<Value, Name = 'readOnly' | 'writeOnly' | 'default'> {
  readonly $mark: Name
  readonly $value: Value
}
