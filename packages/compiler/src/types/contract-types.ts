// Writes the TypeScript types of a contract: of its schemas, its parameters and its operations.
import type { Operation, Parameter, ResponseMedia } from '@plant-store/engine/for-compiler'
import type { Oas3_1Definition } from '@redocly/openapi-core'
import type { NormalOperation } from '../operations/normal-form.ts'
import { keyCode, stringCode, withoutStrings } from '../operations/printing.ts'
import type * as openapi from '../read/document.ts'
import { derefEntries, usableEntries } from '../read/references.ts'
import type { Schemas } from '../schemas/schemas.ts'
import type { ValueSyntax } from '../schemas/shapes.ts'
import { block, comment, indent } from './code.ts'
import { TypeWriter } from './schema-types.ts'

interface Described {
  readonly normal: NormalOperation
  readonly operation: Operation
}

/**
 * Writes the types of a contract: the interfaces `schemas`, `components` and `operations`.
 * @param operations the served ones
 */
export function writeTypes(
  { components }: Oas3_1Definition,
  schemas: Schemas,
  operations: readonly Described[],
): string {
  const writer = new TypeWriter(schemas)
  const names = Object.keys(components?.schemas ?? {})
  for (const name of names) writer.reserve(name)
  for (const name of names) writer.named.set(name, writer.write([components?.schemas?.[name]]))
  const parameters = usableEntries(components?.parameters).map(
    ([name, { schema = true }]) => `${keyCode(name)}: ${writer.write([schema])};`,
  )
  const operationWriter = new OperationWriter(writer, schemas)
  const methods = operations.map((operation) => operationWriter.write(operation))
  const named = [...writer.named].map(([name, type]) => `${keyCode(name)}: ${type};`)
  const isMarked = [...named, ...methods].some((text) => withoutStrings(text).includes('Mark<'))
  const visible = isMarked ? 'Visible<schemas, never>' : 'schemas' // methods and collections see values without marks
  const picked = names.map(stringCode).join(' | ') || 'never'
  return `interface schemas ${block(named)}
export interface components {
    schemas: Pick<${visible}, ${picked}>;
    parameters: ${indent(block(parameters)).trimStart()};
}
export interface operations ${block(methods)}`
}

class OperationWriter {
  readonly #writer: TypeWriter
  readonly #schemas: Schemas

  constructor(writer: TypeWriter, schemas: Schemas) {
    this.#writer = writer
    this.#schemas = schemas
  }

  /** Writes the property of an operation in the interface `operations`. */
  write({ normal, operation }: Described): string {
    const places = (['path', 'query', 'header', 'cookie'] as const).map((place) =>
      this.#writePlace(operation, place),
    )
    const parts = [
      `parameters: ${block(places)};`,
      this.#writeBody(operation.body),
      `responses: ${block(this.#writeResponses(normal, operation))};`,
    ]
    const { summary } = normal
    return `${comment([{ description: summary }])}${keyCode(operation.id)}: ${block(parts)};`
  }

  #writePlace({ parameters }: Operation, place: Parameter['in']): string {
    const properties = parameters
      .filter((parameter) => parameter.in === place)
      .map((parameter) => this.#writeParameter(parameter))
    return properties.length === 0 ? `${place}?: undefined;` : `${place}: ${block(properties)};`
  }

  /** A parameter may be absent only if it is not required, and has no default. */
  #writeParameter({ name, required, schema }: Parameter): string {
    const isThere = required || this.#writer.isFilledIn([this.#schemas.nodeOf(schema)])
    return `${keyCode(name)}${isThere ? '' : '?'}: ${this.#typeOf(schema)};`
  }

  #writeBody(body: Operation['body']): string {
    if (body === null) return 'requestBody?: never;'
    return `requestBody${body.required ? '' : '?'}: { content: ${this.#writeContent(body.content)} };`
  }

  #writeResponses({ responses }: NormalOperation, operation: Operation): string[] {
    return Object.entries(responses).flatMap(([status, described]) => {
      const response = operation.responses[status]
      if (response === undefined) return []
      const parts = [`headers: ${this.#writeHeaders(described)};`]
      const hasBody = Object.keys(response).length > 0
      if (hasBody) parts.push(`content: ${this.#writeContent(response)};`)
      return `${/^\d+$/.test(status) ? status : keyCode(status)}: ${block(parts)};`
    })
  }

  #writeHeaders({ headers }: openapi.Response): string {
    const properties = derefEntries(headers)
      .filter(([name]) => !/^content-type$/i.test(name))
      .map(([name, { required = false, schema = STRING_SCHEMA }]) => {
        const type = this.#writer.write([schema])
        return `${keyCode(name)}${required ? '' : '?'}: ${type};`
      })
    return block(properties)
  }

  #writeContent(content: Readonly<Record<string, ResponseMedia>>): string {
    const properties = Object.entries(content).map(
      ([type, media]) => `${stringCode(type)}: ${this.#writeMedia(media)};`,
    )
    return block(properties)
  }

  #writeMedia({ kind, schema }: ResponseMedia): string {
    if (schema !== null) return this.#typeOf(schema, kind === 'multipart' ? 'form' : 'json')
    return kind === 'text' ? 'string' : 'unknown'
  }

  #typeOf(id: string, syntax: ValueSyntax = 'json'): string {
    return this.#writer.writeWhole(this.#schemas.nodeOf(id), syntax)
  }
}

const STRING_SCHEMA = { type: 'string' }
