// The types of schemas: the keywords of JSON Schema 2020-12 which validate or change a value.

type Some<Names extends string, Value> = { readonly [_ in Names]?: Value }
type Single = 'not' | 'if' | 'then' | 'else' | 'propertyNames' | 'contains' | 'items' | Rest
type Rest = 'additionalProperties' | 'unevaluatedProperties' | 'unevaluatedItems'

/** The keywords which validate or change a value, as in the document. `$ref` is the id of its target. */
export interface Keywords
  extends
    Some<Single, Schema>,
    Some<'allOf' | 'anyOf' | 'oneOf' | 'prefixItems', readonly Schema[]>,
    Some<'properties' | 'patternProperties' | 'dependentSchemas', Readonly<Record<string, Schema>>>,
    Some<`${'min' | 'max'}${'Length' | 'Items' | 'Properties' | 'Contains'}`, number>,
    Some<
      'minimum' | 'maximum' | 'exclusiveMinimum' | 'exclusiveMaximum' | 'multipleOf',
      number | bigint
    >,
    Some<'$ref' | 'pattern' | 'format' | 'description', string>,
    Some<'uniqueItems' | 'readOnly' | 'writeOnly', boolean>,
    Some<'const' | 'default', unknown> {
  readonly type?: string | readonly string[]
  readonly enum?: readonly unknown[]
  readonly required?: readonly string[]
  readonly dependentRequired?: Readonly<Record<string, readonly string[]>>
}
export type Schema = Keywords | boolean

/** By the name of the `format`: whether a string is valid. */
export type Formats = Readonly<Record<string, (string: string) => boolean>>

/** A type that JSON lacks, such as the files of a form. */
export interface AddedType {
  /** The unit of `minLength` and `maxLength`, such as `bytes`. */
  readonly unit: string
  /** The length of a value of this type; undefined for any other value. */
  readonly lengthOf: (value: unknown) => number | undefined
}

/** By the name in `type`. */
export type AddedTypes = Readonly<Record<string, AddedType>>
