// Reads strings as values of a schema.
import { toInteger } from '../json/json.ts'
import { fits, RANGES } from '@plant-store/compiler/for-testing'
import { isObject, isValid, listOf, optionsOf, partsOf, type Schema } from './schemas.ts'

/** Lists of strings: each string is the first possible value, or all are of one type. */
export function listsOf(schema: Schema, texts: readonly string[]): unknown[] {
  const items = itemsOf(schema)
  const first = texts.map((text, index) => firstReading(itemsOf(schema, index), text))
  return [
    first,
    ...items.map((item) => texts.map((text) => readingsOf(item, text)[0] ?? text)),
    texts,
  ]
}

/** The first reading of a string allowed by one of the schemas. */
export function firstReading(schemas: readonly Schema[], text: string): unknown {
  const readings = schemas.flatMap((schema) => readingsOf(schema, text))
  const valid = readings.find((value) => schemas.some((schema) => isValid(schema, value)))
  return valid ?? readings[0] ?? text
}

/** The schemas of the items of a list, in one alternative or another. @param index of the item; absent for any item */
export function itemsOf(schema: Schema, index = Infinity): Schema[] {
  const items = optionsOf(schema).flatMap((part) => {
    const item = listOf(part['prefixItems'])[index] ?? part['items'] ?? part['unevaluatedItems']
    return isObject(item) ? [item] : []
  })
  return items.length > 0 ? items : [{}]
}

/** The value of a string by a schema. */
export const readingOf = (schema: Schema, text: string) => {
  const readings = readingsOf(schema, text)
  return readings.find((value) => isValid(schema, value)) ?? readings[0]
}

/** The possible values of a string: an integer of decimal digits only, a number, a boolean, or the string itself. */
export function readingsOf(schema: Schema, text: string): unknown[] {
  const types = typesOf(schema)
  const isNumber = ['number', ...Object.keys(RANGES)].some((type) => types.has(type))
  const values: unknown[] = []
  if (isNumber && /^(0|-?[1-9]\d*)$/.test(text)) values.push(toInteger(BigInt(text)))
  else if (types.has('number') && /^-?(0|[1-9]\d*)(\.\d+)?(e[+-]?\d+)?$/i.test(text))
    values.push(Number(text))
  if (types.has('boolean') && /^(true|false)$/.test(text)) values.push(text === 'true')
  const isText = types.has('string') || types.size === 0
  return isText || values.length === 0 ? [...values, text] : values
}

/** The types allowed by a schema, in one alternative or another. */
export function typesOf(schema: Schema): Set<string> {
  const possible = optionsOf(schema).flatMap(({ types, enum: values, const: only }) => {
    const listed = only === undefined ? listOf(values) : [only]
    return types === undefined ? listed.map(typeOf) : listOf(types).map(String)
  })
  const needed = partsOf(schema).flatMap(({ types }) =>
    types === undefined ? [] : [listOf(types).map(String)],
  )
  return new Set(possible.filter((type) => needed.every((types) => fits(type, types))))
}

const typeOf = (value: unknown) => (typeof value === 'bigint' ? 'int64' : typeof value)
