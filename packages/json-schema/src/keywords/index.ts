// The keywords of JSON Schema 2020-12, in the order of their evaluation.
import type { Evaluate } from '../core/evaluation.ts'
import type { Keywords } from '../core/schema.ts'
import { $ref } from './$ref.ts'
import { allOf } from './allOf.ts'
import { anyOf } from './anyOf.ts'
import { bounds } from './bounds.ts'
import { constant } from './const.ts'
import { contains } from './contains-minContains-maxContains.ts'
import { dependentRequired } from './dependentRequired.ts'
import { dependentSchemas } from './dependentSchemas.ts'
import { enumeration } from './enum.ts'
import { format } from './format.ts'
import { ifThenElse } from './if-then-else.ts'
import type { Keyword, KeywordContext } from './keyword.ts'
import { itemCounts } from './minItems-maxItems.ts'
import { lengths } from './minLength-maxLength.ts'
import { propertyCounts } from './minProperties-maxProperties.ts'
import { not } from './not.ts'
import { oneOf } from './oneOf.ts'
import { pattern } from './pattern.ts'
import { items } from './prefixItems-items.ts'
import { properties } from './properties-patternProperties-additionalProperties.ts'
import { propertyNames } from './propertyNames.ts'
import { required } from './required.ts'
import { type } from './type.ts'
import { unevaluatedItems } from './unevaluatedItems.ts'
import { unevaluatedProperties } from './unevaluatedProperties.ts'
import { uniqueItems } from './uniqueItems.ts'

const KEYWORDS: readonly Keyword[] = [
  $ref,
  // Assertions: 2020-12 validation, section 6.
  type,
  bounds,
  enumeration,
  constant,
  lengths,
  itemCounts,
  propertyCounts,
  pattern,
  format,
  uniqueItems,
  required,
  // Applicators for the same value: core, section 10.2.
  allOf,
  dependentSchemas,
  dependentRequired,
  anyOf,
  oneOf,
  not,
  ifThenElse,
  // Applicators for properties and items: core, section 10.3.
  properties,
  items,
  contains,
  propertyNames,
  // For properties and items evaluated by no other keyword: core, section 11.
  unevaluatedProperties,
  unevaluatedItems,
]

/** Compiles the keywords of a schema. */
export function compileKeywords(schema: Keywords, context: KeywordContext): Evaluate[] {
  const evaluations = KEYWORDS.map((compile) => compile(schema, context))
  return evaluations.filter((evaluate) => evaluate !== undefined)
}
