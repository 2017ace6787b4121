// The shape of a keyword.
import type { Evaluate } from '../core/evaluation.ts'
import type { AddedTypes, Formats, Keywords, Schema } from '../core/schema.ts'

/**
 * Compiles a keyword of a schema, or several keywords with one meaning.
 * @returns undefined if the schema lacks them
 */
export type Keyword = (schema: Keywords, context: KeywordContext) => Evaluate | undefined

/** Compiles the schemas in a keyword. */
export interface KeywordContext {
  /** By name: formats beside those of ajv-formats. */
  readonly formats: Formats
  /** By name: types which JSON lacks. */
  readonly types: AddedTypes
  /** Compiles a schema for the same value. */
  readonly inPlace: (schema: Schema) => Evaluate
  /** Compiles a schema for a property. @param name if the schema is for this property only */
  readonly property: (schema: Schema, name?: string) => Evaluate
  /** Compiles a schema for an item. @param index if the schema is for this item only */
  readonly item: (schema: Schema, index?: number) => Evaluate
  /** Compiles a condition, such as `not`: a valid value need not fit it. All its required properties count. */
  readonly condition: (schema: Schema) => Evaluate
  /** Compiles the target of a reference when needed: it may lead back here. */
  readonly reference: (id: string) => Evaluate
  /** Whether a required property must be there: only one side sends a `readOnly` or `writeOnly` one. */
  readonly isRequired: (name: string) => boolean
}
