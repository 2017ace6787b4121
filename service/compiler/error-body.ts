// Suggests an `errorBody` for a form of errors that the service does not know: it is made from the schema, ready to paste.
import { inspect } from 'node:util'
import type { Oas3_1Definition } from '@redocly/openapi-core'
import { sample } from 'openapi-sampler'
import type { ProductHooks } from '../engine/for-compiler.ts'
import { isObject } from '../engine/json-schema/values.ts'

type ErrorBody = NonNullable<ProductHooks['errorBody']>
type Arguments = Parameters<ErrorBody>

/** A part of the body: as TypeScript, and as a function that makes it. */
interface Part {
  readonly text: string
  /** The names of the parameters that it uses. */
  readonly uses: readonly string[]
  readonly make: (...parameters: Arguments) => unknown
}

export interface Suggestion {
  /** The function as TypeScript. */
  readonly text: string
  readonly errorBody: ErrorBody
}

/** The parts of a number, by the name of its member. */
const NUMBERS: readonly (readonly [names: RegExp, part: Part])[] = [
  [
    /^(status|status_?code|code|error)$/i,
    { text: 'status', uses: ['status'], make: (status) => status },
  ],
]
/** The parts of a text, by the name of its member. */
const TEXTS: readonly (readonly [names: RegExp, part: Part])[] = [
  [
    /^(status|status_?code)$/i,
    { text: 'String(status)', uses: ['status'], make: (status) => String(status) },
  ],
  [
    /^(code|error_?code|type)$/i,
    { text: '`E${status}`', uses: ['status'], make: (status) => `E${status}` }, // many schemas allow only words here
  ],
  [
    /^(message|msg|detail|details|description|error|error_?(message|description)|reason|title)$/i,
    { text: 'message', uses: ['message'], make: (_status, message) => message },
  ],
  [
    /^(path|instance)$/i,
    { text: 'path', uses: ['path'], make: (_status, _message, { path }) => path },
  ],
  [
    /^((request|trace|correlation)_?)?id$/i,
    { text: 'id', uses: ['id'], make: (_status, _message, { id }) => id },
  ],
  [
    /^operation(_?id)?$/i,
    {
      text: 'operationId',
      uses: ['operationId'],
      make: (_status, _message, { operationId }) => operationId,
    },
  ],
  [
    /^(time|timestamp|date)$/i,
    { text: 'new Date().toISOString()', uses: [], make: () => new Date().toISOString() },
  ],
]

/** Makes an `errorBody` from a schema. It may not fit: try it. @returns undefined if no value with the message can be made from the schema */
export function suggestErrorBody(root: Oas3_1Definition, schema: unknown): Suggestion | undefined {
  try {
    const { text, uses, make } = partOf(
      '',
      sample(schema, { skipWriteOnly: true, quiet: true }, root),
    )
    if (!uses.includes('message')) return undefined // callers would not learn why
    return {
      text: `${parametersFor(uses)} => ${isObjectText(text) ? `(${text})` : text}`,
      errorBody: make,
    }
  } catch {
    return undefined
  }
}

const isObjectText = (text: string) => text.startsWith('{')

/** @param name of the member that has the value */
function partOf(name: string, value: unknown): Part {
  if (Array.isArray(value)) return listPart(value.map((item) => partOf(name, item)))
  if (isObject(value))
    return objectPart(Object.entries(value).map(([key, member]) => [key, partOf(key, member)]))
  const parts = typeof value === 'number' ? NUMBERS : TEXTS
  const named = typeof value === 'number' || typeof value === 'string'
  const [, part] = (named && parts.find(([names]) => names.test(name))) || []
  return part ?? { text: inspect(value), uses: [], make: () => value }
}

function listPart(items: readonly Part[]): Part {
  return {
    text: `[${items.map(({ text }) => text).join(', ')}]`,
    uses: items.flatMap(({ uses }) => uses),
    make: (...parameters) => items.map(({ make }) => make(...parameters)),
  }
}

function objectPart(members: readonly (readonly [key: string, part: Part])[]): Part {
  const texts = members.map(([key, { text }]) => {
    const isName = /^[a-z_$][\w$]*$/i.test(key)
    if (key === text) return key
    return `${isName ? key : JSON.stringify(key)}: ${text}`
  })
  return {
    text: `{ ${texts.join(', ')} }`,
    uses: members.flatMap(([, { uses }]) => uses),
    make: (...parameters) =>
      Object.fromEntries(members.map(([key, { make }]) => [key, make(...parameters)])),
  }
}

/** The parameters of a function that uses these names, the message among them. */
function parametersFor(uses: readonly string[]): string {
  const ofOrigin = ['path', 'id', 'operationId'].filter((name) => uses.includes(name))
  return ofOrigin.length > 0 ? `(status, message, { ${ofOrigin.join(', ')} })` : '(status, message)'
}
