// The parts of an OpenAPI 3.1 document that the compiler reads. Each object may be a reference: see deref.

type Named<Value> = Readonly<Record<string, Value>>

export interface Root {
  readonly info: { readonly title: string }
  readonly jsonSchemaDialect?: unknown
  readonly servers?: readonly { readonly url: string }[]
  readonly security?: readonly Named<readonly string[]>[]
  readonly paths?: Named<PathItem>
  readonly components?: { readonly securitySchemes?: Named<SecurityScheme> }
  readonly 'x-body-limit'?: unknown
}

export interface PathItem extends Partial<Record<'get' | 'put' | 'post' | 'delete' | 'patch', Operation>> {
  readonly parameters?: readonly Parameter[]
}

export interface Operation {
  readonly operationId?: string
  readonly security?: Root['security']
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: { readonly required?: boolean; readonly content: Named<MediaType> }
  readonly responses?: Named<Response>
}

export interface Parameter {
  readonly name: string
  readonly in: string
  readonly required?: boolean
  readonly style?: string
  readonly explode?: boolean
  readonly schema?: Schema
}

export interface MediaType {
  readonly schema?: Schema
  readonly 'x-body-limit'?: unknown
}

export interface Response {
  readonly headers?: Named<{ readonly schema?: Schema }>
  readonly content?: Named<MediaType>
}

export type SecurityScheme = Readonly<Partial<Record<'type' | 'scheme' | 'in' | 'name', string>>>

/** A JSON Schema, by its keywords. */
export type Schema = Named<unknown> | boolean
