// Parameters which are objects: they are sent as the names and the strings of their properties.
import type { Parameter } from '../contract/contract.ts'
import { stringify } from '../json/json.ts'
import { firstReading, itemsOf, readingsOf, typesOf } from '../schemas/readings.ts'
import { ownSchemas } from '@plant-store/compiler/for-testing'
import { isObject, isValid, optionsOf, type Schema } from '../schemas/schemas.ts'

/** Whether a parameter is an object, sent by property. */
export const isOfMembers = ({ sentAs }: Parameter) => sentAs !== undefined && sentAs !== 'json'

/** Whether an object is sent as one string. */
const isOneText = ({ sentAs }: Parameter) => sentAs === 'pairs' || sentAs === 'assignments'

/** A name and a string for each property, or for each item of a property. */
export function textsOfMembers(object: Record<string, unknown>): string[] {
  return Object.entries(object).flatMap(([name, member]) =>
    [member].flat().flatMap((item: unknown) => [name, textOf(item)]),
  )
}

/** A string as it is, and anything else as JSON. */
const textOf = (value: unknown) => (typeof value === 'string' ? value : stringify(value))

/** Names with their strings. @param texts a name and a string in turn */
export function inPairs(texts: readonly string[]): (readonly [name: string, text?: string])[] {
  return texts.flatMap((name, index) => {
    const text = texts[index + 1]
    if (index % 2 === 1) return []
    return [text === undefined ? ([name] as const) : ([name, text] as const)]
  })
}

/** Whether the names of an object can be sent. In a query they may belong to another parameter. */
export function canHaveNames(parameter: Parameter, texts: readonly string[]): boolean {
  const { sentAs, names, reserved } = parameter
  if (!isOfMembers(parameter) || isOneText(parameter)) return true
  const sent = inPairs(texts)
  if (sent.some(([, text]) => text === undefined)) return false
  if (sentAs === 'deepObject') return true
  const isFree = sent.every(([name]) => name !== '' && !reserved.includes(name))
  return isFree && (parameter.isOpen || sent.some(([name]) => names.includes(name)))
}

/** The object of strings; undefined if they are none. */
export function readObject(
  parameter: Parameter,
  texts: readonly string[],
): Record<string, unknown> | undefined {
  if (isOneText(parameter) && texts.join('') === '') return {}
  const pairs = inPairs(texts)
  if (pairs.some(([, text]) => text === undefined)) return undefined
  const byName = Map.groupBy(pairs.filter(isOwn(parameter)), ([name]) => name)
  const entries: [string, unknown][] = []
  for (const [name, sent] of byName) {
    const isDeeper = parameter.sentAs === 'deepObject' && /[[\]]/.test(name)
    if (name === '__proto__' || isDeeper) return undefined
    const member = readMember(
      parameter,
      name,
      sent.map(([, text = '']) => text),
    )
    if (member === undefined) return undefined
    entries.push([name, member])
  }
  return Object.fromEntries(entries)
}

/** The service ignores the undescribed names of an object in a query, unless it may have any name. */
function isOwn({ sentAs, isOpen, names }: Parameter) {
  return ([name]: readonly [string, string?]) =>
    sentAs !== 'members' || isOpen || names.includes(name)
}

/** The value of a property's strings; undefined for several, if it is no list. */
function readMember(parameter: Parameter, name: string, texts: readonly string[]): unknown {
  const schemas = optionsOf(parameter.schema)
    .flatMap((part) => ownSchemas(part, name))
    .filter(isObject)
  const [text = ''] = texts
  const isList = !isOneText(parameter) && schemas.some((schema) => typesOf(schema).has('array'))
  const list = isList ? listOf(schemas, texts) : undefined
  if (texts.length > 1) return list
  const readings = schemas.flatMap((schema) => readingsOf(schema, text))
  const candidates = list === undefined ? readings : [...readings, list]
  const valid = candidates.find((value) => schemas.every((schema) => isValid(schema, value)))
  return valid ?? list ?? firstReading(schemas, text)
}

function listOf(schemas: readonly Schema[], texts: readonly string[]): unknown[] {
  return texts.map((text, index) =>
    firstReading(
      schemas.flatMap((schema) => itemsOf(schema, index)),
      text,
    ),
  )
}
