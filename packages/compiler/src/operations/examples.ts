// Finds the examples of an operation's answers: those of the contract that fit, or else values made from its schemas.
import {
  type Example,
  type Operation,
  type OperationExamples,
  type ResponseMedia,
} from '@plant-store/engine/for-compiler'
import { isObject } from '@plant-store/json-schema'
import type * as openapi from '../read/document.ts'
import { usableEntries } from '../read/references.ts'
import type { Schemas } from '../schemas/schemas.ts'
import { ExampleHeaders } from './example-headers.ts'
import { toMediaType } from './media-types.ts'
import { writeMethod } from './method-code.ts'
import type { NormalOperation } from './normal-form.ts'
import { TypedValues } from './typed-values.ts'

interface Described {
  readonly normal: NormalOperation
  readonly operation: Operation
}

/** A body, and the name of its example in the contract. */
type Body = Pick<Example, 'name' | 'body'>

/** A media type of a response: compiled, and as the contract describes it. */
interface ServedMedia {
  readonly type: string
  readonly compiled: ResponseMedia
  readonly described: openapi.MediaType
}

/** The examples of a contract. Each made value is checked. */
export class Examples {
  readonly #schemas: Schemas
  readonly #typed: TypedValues
  readonly #headers: ExampleHeaders
  /** By the id of its schema: a made value, as it is sent. */
  readonly #values = new Map<string, unknown>()

  constructor(schemas: Schemas) {
    this.#schemas = schemas
    this.#typed = new TypedValues(schemas)
    this.#headers = new ExampleHeaders(schemas)
  }

  /** Lists the examples of an operation, successes first, and writes a method with the first one. */
  of({ normal, operation }: Described): OperationExamples {
    const answers: Example[] = []
    const lacking: number[] = []
    for (const { key, status } of statusesOf(Object.keys(normal.responses))) {
      const examples = this.#examplesIn(normal.responses[key], operation.responses[key], status)
      if (examples.length === 0) lacking.push(status)
      const range = key === String(status) ? {} : { range: key }
      answers.push(...examples.map((example) => ({ ...example, ...range })))
    }
    const hasSuccess = isWithSuccess(Object.keys(normal.responses))
    const first = answers.find(({ range }) => !(range === 'default' && hasSuccess))
    const typed = first && this.#typedExample(first, operation)
    return { answers, lacking, method: writeMethod(normal, typed) }
  }

  /** The examples of a response. One without a body is itself an example. */
  #examplesIn(
    response: openapi.Response = { description: '' },
    compiled: Operation['responses'][string] = {},
    status: number,
  ): readonly Example[] {
    const headers = this.#headers.of(response)
    if (headers === undefined) return []
    const head = { status, ...(Object.keys(headers).length > 0 && { headers }) }
    const listed = mediaOf(response, compiled)
    if (listed.length === 0) return [head]
    for (const media of listed) {
      const bodies = this.#bodiesOf(media)
      const kind = kindOf(media, listed.length > 1)
      if (bodies.length > 0) return bodies.map((body) => ({ ...head, ...body, ...kind }))
    }
    return []
  }

  #bodiesOf({ compiled, described }: ServedMedia): readonly Body[] {
    const named = usableEntries(described.examples).flatMap(([name, example]): Body[] => {
      const value = isObject(example) && 'value' in example ? example['value'] : undefined
      const body = this.#fitting(compiled, value)
      return body === undefined ? [] : [{ name, body }]
    })
    if (named.length > 0) return named
    const body = this.#fitting(compiled, described.example) ?? this.#make(compiled)
    return body === undefined ? [] : [{ body }]
  }

  /** A value as it is sent; undefined if the schema refuses it. */
  #fitting({ kind, schema }: ResponseMedia, value: unknown): unknown {
    if (value === undefined) return undefined
    if (kind === 'bytes') return typeof value === 'string' ? Buffer.from(value) : undefined
    if (kind === 'text' && typeof value !== 'string') return undefined
    if (schema === null) return value
    return this.#schemas.check('example', { $ref: schema })(value).value
  }

  #make(media: ResponseMedia): unknown {
    const { kind, schema } = media
    if (kind === 'bytes') return Buffer.from('bytes')
    if (schema === null) return kind === 'text' ? 'text' : {}
    if (this.#values.has(schema)) return this.#values.get(schema)
    const value = this.#fitting(media, this.#schemas.samples.exampleOf({ $ref: schema }))
    this.#values.set(schema, value)
    return value
  }

  /** An example as the types of the method's result take it. */
  #typedExample(example: Example, { responses }: Operation): Example {
    const { status, type, body } = example
    const response = responses[keyFor(status, responses)] ?? {}
    const media = type === undefined ? Object.values(response)[0] : mediaFor(type, response)
    const schema = media?.schema ?? null
    if (schema === null) return example
    return { ...example, body: this.#typed.of(body, { $ref: schema }) }
  }
}

const isWithSuccess = (keys: readonly string[]) => keys.some((key) => /^[23]/.test(key))

/** A status for each key of `responses`, successes first. */
function statusesOf(keys: readonly string[]): { readonly key: string; readonly status: number }[] {
  const statuses = keys.map((key) => ({ key, status: statusFor(key, keys) }))
  return statuses.toSorted(
    (left, right) => Number(left.status >= 400) - Number(right.status >= 400),
  )
}

/** The status of a key of `responses`. Beside a success, `default` is for errors: no method may answer it. */
function statusFor(key: string, keys: readonly string[]): number {
  const rangeOfDefault = isWithSuccess(keys) ? '5XX' : '2XX'
  const range = key === 'default' ? rangeOfDefault : key
  if (!range.endsWith('XX')) return Number(range)
  const first = Number(range.replace('XX', '00'))
  const statuses = Array.from({ length: 100 }, (_, index) => first + index)
  return statuses.find((status) => !keys.includes(String(status))) ?? first
}

function keyFor(status: number, responses: Operation['responses']): string {
  const keys = [String(status), `${Math.floor(status / 100)}XX`, 'default']
  return keys.find((key) => key in responses) ?? ''
}

/** The media types of a response: JSON first, then events, strings and bytes. */
function mediaOf(
  response: openapi.Response,
  compiled: Operation['responses'][string],
): readonly ServedMedia[] {
  const described = usableEntries(response.content).map(([range, media]) =>
    toMediaType(range, media),
  )
  const served = Object.entries(compiled).flatMap(([type, media]): ServedMedia[] => {
    const own = described.find(({ range }) => range === type)
    const same = own ?? described.find((candidate) => candidate.type === type)
    return same === undefined ? [] : [{ type, compiled: media, described: same.media }]
  })
  return served.toSorted((left, right) => rankOf(left.compiled) - rankOf(right.compiled))
}

/** The media type of an example, if the method must name it, and whether the body is an event. */
function kindOf(
  { type, compiled: { events } }: ServedMedia,
  isOneOfSeveral: boolean,
): Pick<Example, 'type' | 'isEvent'> {
  const isNamed = isOneOfSeveral || type.endsWith('/*')
  return { ...(isNamed && { type: concreteType(type) }), ...(events && { isEvent: true }) }
}

const KINDS: readonly ResponseMedia['kind'][] = ['json', 'text', 'bytes']

const rankOf = ({ kind, events }: ResponseMedia) => (events ? 0.5 : KINDS.indexOf(kind))

/** Media types for ranges. */
const OF_RANGES: Readonly<Record<string, string>> = {
  '*/*': 'application/octet-stream',
  'application/*': 'application/octet-stream',
  'audio/*': 'audio/mpeg',
  'image/*': 'image/png',
  'text/*': 'text/plain',
  'video/*': 'video/mp4',
}

const concreteType = (type: string) => OF_RANGES[type] ?? type.replace(/\/\*$/, '/x-any')

function mediaFor(type: string, response: Operation['responses'][string]) {
  const range = `${type.split('/')[0] ?? ''}/*`
  return response[type] ?? response[range] ?? response['*/*']
}
