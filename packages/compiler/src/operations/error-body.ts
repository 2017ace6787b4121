// Makes the body of an error from its schema: an expression of status, message and request, for the `errorBody` that the
// compiler suggests. It begins with a sample of the schema, in which the names of members say what stands where.
import type { Oas3_1Definition } from '@redocly/openapi-core'
import { sample } from 'openapi-sampler'
import type { WriteBody } from '@plant-store/engine/for-compiler'
import { isObject } from '@plant-store/json-schema'
import { keyCode, valueCode } from './printing.ts'

/** An expression: as TypeScript, and as a function. */
export interface Part {
  readonly text: string
  /** The names of the parameters that it uses. */
  readonly uses: readonly string[]
  readonly make: (...parameters: Parameters<WriteBody>) => unknown
  /** Whether it says nothing of the error: it is a value of the schema, whichever. */
  readonly isSample?: true
}

/** A value that is no object and no list. */
interface Leaf {
  /** Its place, as errors of bodies have it: `body/errors/0/code`. */
  readonly pointer: string
  /** The expressions that it may have, the best one first. */
  readonly choices: Part[]
}
/** The members of an object, by name. */
type Members = [name: string, node: Node][]
/** A body, or a part of it. */
type Node = Leaf | { readonly items: readonly Node[] } | { readonly members: Members }

const MESSAGE: Part = {
  text: 'message',
  uses: ['message'],
  make: (_status, message) => message,
}
const STATUS: Part = { text: 'status', uses: ['status'], make: (status) => status }
const STATUS_TEXT: Part = {
  text: 'String(status)',
  uses: ['status'],
  make: (status) => String(status),
}
/** Many schemas allow only words as a code. */
const CODE: Part = { text: '`E${status}`', uses: ['status'], make: (status) => `E${status}` }
const PATH: Part = { text: 'path', uses: ['path'], make: (_status, _message, { path }) => path }
const ID: Part = { text: 'id', uses: ['id'], make: (_status, _message, { id }) => id }
const OPERATION: Part = {
  text: 'operationId',
  uses: ['operationId'],
  make: (_status, _message, { operationId }) => operationId,
}
const TIME: Part = {
  text: 'new Date().toISOString()',
  uses: [],
  make: () => new Date().toISOString(),
}
const DAY: Part = {
  text: 'new Date().toISOString().slice(0, 10)',
  uses: [],
  make: () => new Date().toISOString().slice(0, 10),
}
const MILLISECONDS: Part = { text: 'Date.now()', uses: [], make: () => Date.now() }

/** What a member is, by its name. */
type Names = readonly (readonly [names: RegExp, part: Part])[]

const MESSAGES =
  /^(|.*message|msg|text|detail|(error_?)?description|error|problem|cause|reason|title|summary)s?(\[\])*$/i
const TIMES = /^(date_?)?(time|timestamp|date)$/i
const NUMBERS: Names = [
  [/^(status|(status|error)_?code|code|error)$/i, STATUS],
  [TIMES, MILLISECONDS],
]
const BOOLEANS: Names = [[/^((is_?)?success(ful)?|ok|status)$/i, literal(false)]]
const TEXTS: Names = [
  [/^(code|error_?code|type)$/i, CODE],
  [/^(status|(status|error)_?code|code)$/i, STATUS_TEXT],
  [MESSAGES, MESSAGE],
  [/^(path|instance)$/i, PATH],
  [/^((request|trace|correlation)_?)?id$/i, ID],
  [/^operation(_?id)?$/i, OPERATION],
  [TIMES, TIME],
]
/** What a text is, by the sample of its format. */
const FORMATS: Names = [
  [/^\d{4}-\d\d-\d\dT/, TIME],
  [/^\d{4}-\d\d-\d\d$/, DAY],
  [/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i, { ...ID, isSample: true }],
  [/^(http:\/\/example\.com|\.\.\/dictionary)$/, literal('about:blank')], // as RFC 9457 has it
]

/** The samples of a schema that are tried in turn. */
const SAMPLES = [{}, { enablePatterns: true }, { enablePatterns: true, skipNonRequired: true }]

/**
 * Makes a body from a schema.
 * @param findError tries a function. The error begins with the place in the body that has it
 * @returns undefined if no body fits
 */
export function bodyOf(
  root: Oas3_1Definition,
  schema: unknown,
  findError: (write: WriteBody) => string | undefined,
): Part | undefined {
  for (const options of SAMPLES) {
    const body = fit(sampleOf(root, schema, options), findError)
    if (body !== undefined) return body
  }
  return undefined
}

function sampleOf(root: Oas3_1Definition, schema: unknown, options: object): unknown {
  if (!isObject(schema)) return undefined
  try {
    return sample(schema, { ...options, skipWriteOnly: true, quiet: true }, root)
  } catch {
    return undefined
  }
}

/** Changes the body where it has an error, until it fits. */
function fit(value: unknown, findError: (write: WriteBody) => string | undefined) {
  const body = nodeOf('', 'body', value)
  const leaves = leavesOf(body)
  for (;;) {
    const part = partOf(body)
    const error = findError(part.make)
    if (error === undefined) {
      dropSamples(body, findError)
      return withMessage(body, partOf(body), findError)
    }
    if (!changeLeaf(leaves, error)) return undefined
  }
}

/** Takes out the members that say nothing of the error, as long as the body fits without them. */
function dropSamples(body: Node, findError: (write: WriteBody) => string | undefined): void {
  for (const members of objectsIn(body))
    for (const member of [...members]) {
      if (!isSample(member[1])) continue
      const index = members.indexOf(member)
      members.splice(index, 1)
      if (findError(partOf(body).make) !== undefined) members.splice(index, 0, member)
    }
}

function isSample(node: Node): boolean {
  if ('items' in node) return node.items.every(isSample)
  if ('members' in node) return node.members.every(([, member]) => isSample(member))
  return node.choices[0]?.isSample === true
}

/** The members of the objects in a body, outer objects first. */
function objectsIn(node: Node): Members[] {
  if ('items' in node) return node.items.flatMap(objectsIn)
  if (!('members' in node)) return []
  return [node.members, ...node.members.flatMap(([, member]) => objectsIn(member))]
}

/** Adds a member for the message to a body that has none, if its schema allows one. */
function withMessage(body: Node, part: Part, findError: (write: WriteBody) => string | undefined) {
  if (!('members' in body) || part.uses.includes('message')) return part
  const message: Leaf = { pointer: 'body/message', choices: [MESSAGE] }
  const told = partOf({ members: [...body.members, ['message', message]] })
  return findError(told.make) === undefined ? told : part
}

const TOO_LONG = /must NOT have more than (\d+) characters$/

/** Takes the next choice of the leaf that has an error, or of a leaf below that place. @returns false if there is none */
function changeLeaf(leaves: readonly Leaf[], error: string): boolean {
  const [location = ''] = error.split(' ')
  const [, most] = TOO_LONG.exec(error) ?? []
  const isAt = ({ pointer }: Leaf) => pointer === location
  const message = leaves.find((leaf) => isAt(leaf) && leaf.choices[0] === MESSAGE)
  if (message !== undefined && most !== undefined) {
    message.choices[0] = cutMessage(Number(most))
    return true
  }
  const below = leaves.filter(
    ({ pointer, choices }) => pointer.startsWith(location) && choices.length > 1,
  )
  const leaf =
    below.find(isAt) ?? below.find(({ choices: [first] }) => first !== MESSAGE) ?? below[0]
  leaf?.choices.shift()
  return leaf !== undefined
}

function cutMessage(length: number): Part {
  return {
    text: `message.slice(0, ${length})`,
    uses: ['message'],
    make: (_status, message) => message.slice(0, length),
  }
}

/** @param name of the member that has the value; of an item, the name of the list with `[]` */
function nodeOf(name: string, pointer: string, value: unknown): Node {
  const at = (key: string | number) => `${pointer}/${String(key)}`
  if (Array.isArray(value)) {
    return { items: value.map((item, index) => nodeOf(`${name}[]`, at(index), item)) }
  }
  if (!isObject(value)) return { pointer, choices: choicesFor(name, value) }
  const described = Object.entries(value).filter(([key]) => !/^property[12]$/.test(key)) // the sampler's own
  return { members: described.map(([key, member]) => [key, nodeOf(key, at(key), member)]) }
}

/** The expressions for a value: what its format and its name say, and the value itself. */
function choicesFor(name: string, value: unknown): Part[] {
  const ofText =
    typeof value === 'string' ? [...partsFor(FORMATS, value), ...partsFor(TEXTS, name)] : []
  const ofNumber = typeof value === 'number' ? partsFor(NUMBERS, name) : []
  const ofBoolean = typeof value === 'boolean' ? partsFor(BOOLEANS, name) : []
  return [...ofText, ...ofNumber, ...ofBoolean, { ...literal(value), isSample: true }]
}

function partsFor(table: Names, text: string): Part[] {
  return table.filter(([names]) => names.test(text)).map(([, part]) => part)
}

function literal(value: unknown): Part {
  return { text: valueCode(value), uses: [], make: () => value }
}

function leavesOf(node: Node): Leaf[] {
  if ('items' in node) return node.items.flatMap(leavesOf)
  if ('members' in node) return node.members.flatMap(([, member]) => leavesOf(member))
  return [node]
}

function partOf(node: Node): Part {
  if ('items' in node) return listPart(node.items.map(partOf))
  if ('members' in node)
    return objectPart(node.members.map(([key, member]) => [key, partOf(member)]))
  const [first = literal(undefined)] = node.choices
  return first
}

function listPart(items: readonly Part[]): Part {
  return {
    text: `[${items.map(({ text }) => text).join(', ')}]`,
    uses: items.flatMap(({ uses }) => uses),
    make: (...parameters) => items.map(({ make }) => make(...parameters)),
  }
}

function objectPart(members: readonly (readonly [key: string, part: Part])[]): Part {
  const texts = members.map(([key, { text, uses }]) => {
    const isParameter = key === text && uses.includes(key)
    return isParameter ? key : `${keyCode(key)}: ${text}`
  })
  return {
    text: members.length === 0 ? '{}' : `{ ${texts.join(', ')} }`,
    uses: members.flatMap(([, { uses }]) => uses),
    make: (...parameters) =>
      Object.fromEntries(members.map(([key, { make }]) => [key, make(...parameters)])),
  }
}
