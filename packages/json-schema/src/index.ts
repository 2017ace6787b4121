// The door: validates values by JSON Schema 2020-12, and changes them by the annotations of their schemas.
export { Validator } from './validator.ts'
export type { Check, Reason, Use } from './validator.ts'
export type { AddedType, AddedTypes, Formats, Keywords, Schema } from './core/schema.ts'
export { FILLS_IN_TOO_MUCH, TOO_NESTED } from './core/sentences.ts'
export { Untyped } from './untyped.ts'

// For readers of schemas, such as the compiler of contracts:
export {
  allowedTypes,
  alternativesOf,
  declaredTypes,
  itemSchemasOf,
  type SchemaObject,
} from './core/allowed-types.ts'
export { flattenedSchema, reachable } from './core/flattened-schema.ts'
export { isInt64, isIntegerFormat, isNumeric } from './core/numbers.ts'
export { toRegExp } from './core/patterns.ts'
export { isContainer, isObject } from './core/values.ts'
export { REGISTERED } from './keywords/format.ts'
