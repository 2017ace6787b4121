import type { Evaluate } from '../core/evaluation.ts'
import type { AddedTypes, Formats, Keywords, Schema } from '../core/schema.ts'

/**
 * Compiles a keyword of a schema, or several keywords that say something only together.
 * @returns undefined if the schema does not have them
 */
export type Keyword = (schema: Keywords, context: Context) => Evaluate | undefined

/** The means by which a keyword compiles the schemas in it. */
export interface Context {
  /** By name: the formats that are added to those of ajv-formats. */
  readonly formats: Formats
  /** By name: the types that JSON lacks. */
  readonly types: AddedTypes
  /** Compiles a schema for the same value. */
  readonly inPlace: (schema: Schema) => Evaluate
  /** Compiles a schema for a member. @param name of the member, if the schema is only for this one */
  readonly member: (schema: Schema, name?: string) => Evaluate
  /** Compiles a schema for an item. @param index of the item, if the schema is only for this one */
  readonly item: (schema: Schema, index?: number) => Evaluate
  /** Compiles a schema that a valid value need not fit, as in `not`: so it requires also the members that are left out. */
  readonly condition: (schema: Schema) => Evaluate
  /** Compiles the target of a reference, when it is needed: it may lead back here. */
  readonly reference: (id: string) => Evaluate
  /** Whether a required member must be there: only one side sends a `readOnly` or `writeOnly` one. */
  readonly isRequired: (name: string) => boolean
}
