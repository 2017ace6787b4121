// @plant-store/json-schema 1.0.0, written by `npm run released`
export interface AddedType {
  readonly unit: string
  readonly lengthOf: (value: unknown) => number | undefined
}
export type AddedTypes = Readonly<Record<string, AddedType>>
type BoundKeyword = 'minimum' | 'maximum' | 'exclusiveMinimum' | 'exclusiveMaximum' | 'multipleOf'
export type Check = (value: unknown, reserve?: Reserve) => Checked
interface Checked {
  readonly value?: unknown
  readonly error?: string
  readonly reason?: Reason
}
type ErrorKeyword = keyof Limits
export declare const FILLS_IN_TOO_MUCH = 'would fill in more than 100 properties'
type FlattenAny = (schema: unknown) => readonly SchemaObject[]
export type Formats = Readonly<Record<string, (string: string) => boolean>>
type Key = string | number
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
type Limits = Record<BoundKeyword, number | bigint> &
  Record<SizeKeyword, number> & {
    readonly type: readonly string[]
    readonly enum: readonly unknown[]
    readonly const: unknown
    readonly pattern: string
    readonly format: string
    readonly uniqueItems: true
    readonly required: string
    readonly anyOf: undefined
    readonly oneOf: undefined
    readonly not: undefined
    readonly contains: {
      readonly least: number
      readonly most: number
    }
    readonly false: Key
    readonly readOnly: true
    readonly untyped: string
    readonly default: number
    readonly defaults: number
    readonly nesting: undefined
  }
export declare const REGISTERED: Formats
export interface Reason {
  readonly path: readonly Key[]
  readonly keyword: ErrorKeyword
  readonly limit: unknown
}
type Reserve = (bytes: number) => void
type Rest = 'additionalProperties' | 'unevaluatedProperties' | 'unevaluatedItems'
export type Schema = Keywords | boolean
export type SchemaObject = Readonly<Record<string, unknown>>
type Single = 'not' | 'if' | 'then' | 'else' | 'propertyNames' | 'contains' | 'items' | Rest
type SizeKeyword = `${'min' | 'max'}${'Length' | 'Items' | 'Properties'}`
type Some<Names extends string, Value> = {
  readonly [_ in Names]?: Value
}
export declare const TOO_NESTED = 'is nested too deep for its schema'
declare const USES: {
  readonly incoming: {
    readonly marks: readonly ['readOnly']
    readonly int64: true
    readonly defaults: true
  }
  readonly outgoing: {
    readonly marks: readonly ['writeOnly']
    readonly int64: false
    readonly defaults: false
  }
  readonly stored: {
    readonly marks: readonly []
    readonly int64: true
    readonly defaults: false
  }
  readonly storing: {
    readonly marks: readonly ['readOnly', 'writeOnly']
    readonly int64: false
    readonly defaults: false
  }
}
export declare abstract class Untyped {
  abstract readonly error: string
  abstract candidates(types: ReadonlySet<string>): readonly unknown[]
  abstract toJSON(): unknown
}
export type Use = keyof typeof USES
export declare class Validator {
  constructor(
    schemas: Readonly<Record<string, Schema>>,
    use: Use,
    formats?: Formats,
    types?: AddedTypes,
  )
  compile(name: string, schema: Schema, markedFrom?: number): Check
  decodeInt64s(schema: Schema, value: unknown): unknown
  hasWriteOnly(schema: Schema): boolean
}
export declare function allowedTypes(schema: unknown, flatten: FlattenAny): string[]
export declare function alternativesOf(
  schema: unknown,
  flatten: FlattenAny,
  enclosing?: readonly unknown[],
): unknown[]
export declare function declaredTypes({ type, nullable }: SchemaObject): string[]
export declare function flattenedSchema<Node extends Keywords | Readonly<Record<string, unknown>>>(
  schema: unknown,
  resolve: (schema: Node) => unknown,
): Node[]
export declare function isContainer(value: unknown): value is object
export declare function isInt64(schema: Keywords): boolean
export declare const isIntegerFormat: (format: string) => boolean
export declare const isNumeric: (type: string) => boolean
export declare function isObject(value: unknown): value is Record<string, unknown>
export declare function itemSchemasOf(schema: unknown, flatten: FlattenAny): unknown[]
export declare function reachable(schema: unknown, resolve: (node: Keywords) => unknown): unknown[]
export declare function toRegExp(pattern: string): RegExp
export {}
