// A contract as `npm run generate` compiles it: what a start needs of it, as plain values.

export interface Compiled {
  readonly title: string
  /** The SHA-256 of each file of the contract, by its path from the folder of the first. */
  readonly sources: Readonly<Record<string, string>>
  /** The document to serve, if several files were bundled into it. */
  readonly bundle: string | null
  /** Where the default of the server variable `base_url` stands in the document to serve. */
  readonly baseUrl: readonly [from: number, to: number] | null
  readonly operations: readonly Operation[]
  /** By the ids that operations, and schemas in `$ref`, have for them. */
  readonly schemas: Readonly<Record<string, Schema>>
}

/** A JSON Schema with the keywords of validation.ts. */
export type Schema = Readonly<Record<string, unknown>> | boolean

export interface Operation {
  readonly id: string
  /** In capital letters. */
  readonly method: string
  /** With names in braces, behind the path of the servers. */
  readonly path: string
  /** The alternatives, of which one must be satisfied; there is none if no credentials are needed. */
  readonly security: readonly (readonly Requirement[])[]
  readonly parameters: readonly Parameter[]
  readonly body: Body | null
  /** By status, range (`4XX`) or `default`. */
  readonly responses: Readonly<Record<string, Response>>
  /** How to write the errors of the service itself, by status, range or `default`, where that is not as usual. */
  readonly errors: Readonly<Record<string, ErrorFormat>>
}

/** The media type of an error, and what each of its members is given; null: as text. Null: an error has no body. */
export type ErrorFormat = { readonly type: string; readonly form: ErrorForm | null } | null
export type ErrorForm = Readonly<Record<string, 'status' | 'digits' | 'blank' | 'phrase' | 'message'>>

/** A security scheme that is served: `http` with `bearer`, or `apiKey` in a header, whose name is in lower case. */
export type SecurityScheme = { readonly type: 'bearer' } | { readonly type: 'apiKey'; readonly header: string }

/** Credentials that are needed, and the scopes that they must have. */
export interface Requirement {
  readonly scheme: SecurityScheme
  readonly scopes: readonly string[]
}

export interface Parameter {
  readonly in: 'path' | 'query' | 'header'
  readonly name: string
  readonly required: boolean
  /** The id of its schema. */
  readonly schema: string
  /** What its text is read as; of a list, each of its texts. */
  readonly type: string
  /** How a list is sent: as `a=1&a=2`, or as `a=1,2`. */
  readonly list: 'repeated' | 'commas' | null
  /** The JSON of what an absent one is. */
  readonly default?: string
}

/** A request body, by media type. */
export interface Body {
  readonly required: boolean
  readonly content: Readonly<Record<string, Media>>
}

export interface Media {
  /** The id of its schema; null if any body is right. */
  readonly schema: string | null
  /** The most bytes. */
  readonly limit: number
  /** What each field of a form is read as, and whether there may be several of it. */
  readonly fields?: Readonly<Record<string, { readonly type: string; readonly isList: boolean }>>
}

/** The ids of the schemas of a response, by media type; null if any body is right. */
export type Response = Readonly<Record<string, string | null>>

/** What `npm run generate` marks in types: members that only one side sends, and those with a default. */
export interface Mark<Name extends 'readOnly' | 'writeOnly' | 'default', Value> {
  readonly $mark: Name
  readonly $value: Value
}
