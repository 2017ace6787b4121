// Finds the headers of an example: the required ones, and those of which the contract has an example.
import { validateHeaderValue } from 'node:http'
import { isObject } from '@plant-store/json-schema'
import { Diagnostics } from '../read/diagnostics.ts'
import type * as openapi from '../read/document.ts'
import { tryDeref, usableEntries } from '../read/references.ts'
import { Schemas } from '../schemas/schemas.ts'
import { TypedValues } from './typed-values.ts'

type Value = string | number | bigint | boolean

/** Set by the server, from the body that is sent. */
const OF_SERVER =
  /^(connection|content-(encoding|length|range)|date|keep-alive|trailer|transfer-encoding|upgrade)$/i

export class ExampleHeaders {
  /** The schemas of headers: the compiled contract has none of them. */
  readonly #schemas: Schemas
  readonly #typed: TypedValues

  constructor({ formats }: Pick<Schemas, 'formats'>) {
    this.#schemas = new Schemas(new Diagnostics(), formats)
    this.#typed = new TypedValues(this.#schemas)
  }

  /** The headers of a response, by name; undefined if a required one has no example, and none can be made. */
  of({ headers }: openapi.Response): Readonly<Record<string, Value>> | undefined {
    const values: Record<string, Value> = {}
    for (const [name, header] of usableEntries(headers)) {
      if (/^content-type$/i.test(name)) continue
      const value = OF_SERVER.test(name) ? undefined : this.#valueOf(name, header)
      if (value !== undefined) values[name] = value
      else if (header.required === true) return undefined
    }
    return values
  }

  /** The example of a header, or if it is required a made value. */
  #valueOf(name: string, header: openapi.Header): Value | undefined {
    const { required = false, schema = STRING, example, examples } = header
    const id = this.#schemas.add(schema)
    const check = this.#schemas.check('header', { $ref: id })
    const isSendable = (value: unknown): value is Value =>
      isScalar(value) && check(value).error === undefined && isHeaderValue(name, value)
    const named = usableEntries(examples).map(([, { value }]) => value)
    const listed = [example, ...named, ...listedIn(tryDeref(schema))]
    const make = () => (required ? this.#schemas.samples.exampleOf({ $ref: id }) : undefined)
    const value = listed.find(isSendable) ?? make()
    if (!isSendable(value)) return undefined
    const typed = this.#typed.of(value, { $ref: id })
    return isScalar(typed) ? typed : undefined
  }
}

const STRING = { type: 'string' } as const

/** The examples in a schema. */
function listedIn(schema: unknown): unknown[] {
  if (!isObject(schema)) return []
  return [schema['example'], ...[schema['examples'] ?? []].flat()]
}

const isScalar = (value: unknown): value is Value =>
  /^(string|number|bigint|boolean)$/.test(typeof value)

function isHeaderValue(name: string, value: Value): boolean {
  try {
    validateHeaderValue(name, String(value))
    return true
  } catch {
    return false
  }
}
