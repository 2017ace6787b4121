// The types of indexes: how product.ts defines them, and how a list by one is asked for.

/**
 * The properties of an index in their order: names, or ways to nested properties with dots.
 * `unique`: an owner has each list of values at most once.
 */
export type IndexDefinition =
  readonly string[] | { readonly on: readonly string[]; readonly unique?: boolean }

/** The indexes of a collection by name. */
export type IndexDefinitions = Readonly<Record<string, IndexDefinition>>

/** The properties of an index. */
type PathsOf<Definition> = Definition extends { readonly on: infer Paths } ? Paths : Definition

/** The same definition however it is written, so that types of collections can be compared. */
export type Defined<Indexes> = {
  readonly [Name in keyof Indexes]: {
    readonly on: PathsOf<Indexes[Name]> extends readonly [...infer Paths] ? Readonly<Paths> : never
    readonly unique: Indexes[Name] extends { readonly unique: true } ? true : false
  }
}

/** The type of a property. In a union of objects, only the objects with this property count. */
type PropertyOf<Item, Name> = Item extends object
  ? Name extends keyof Item
    ? Item[Name]
    : never
  : never

type PropertyAt<Item, Path> = Path extends `${infer Name}.${infer Rest}`
  ? PropertyAt<PropertyOf<Item, Name>, Rest>
  : PropertyOf<Item, Path>

/** A value type that an index may have; `never` for others, and for several of them. */
type OneType<Value> = [Value] extends [string]
  ? Value
  : [Value] extends [bigint]
    ? Value
    : [Value] extends [number]
      ? Value
      : [Value] extends [boolean]
        ? Value
        : never

type ValueAt<Item, Path> = OneType<NonNullable<PropertyAt<Item, Path>>>

type ValuesAt<Item, Paths> = { readonly [At in keyof Paths]: ValueAt<Item, Paths[At]> }

/** The values of an index, in the order of its properties. */
type ValuesOf<Item, Definition> = ValuesAt<Item, PathsOf<Definition>>

/** Refuses a part of a definition: TypeScript shows the message as a missing property. */
type Refused<Message extends string> = { readonly [_ in Message]: true }

type CheckedPath<Item, Path> = [ValueAt<Item, Path>] extends [never]
  ? Refused<`the items have no property ${Path & string} that is a string, an integer, a number or a boolean`>
  : Path

type CheckedPaths<Item, Paths> = Paths extends readonly []
  ? Refused<'an index has a property'>
  : { readonly [At in keyof Paths]: CheckedPath<Item, Paths[At]> }

type CheckedIndex<Item, Definition> = Definition extends { readonly on: infer Paths }
  ? { readonly on: CheckedPaths<Item, Paths> } & {
      readonly [
        _ in Exclude<keyof Definition, 'on' | 'unique'>
      ]: Refused<'an index has only on and unique'>
    }
  : CheckedPaths<Item, Definition>

/** Refuses indexes that do not fit their items. */
export type CheckedIndexes<Item, Indexes> = {
  readonly [Name in keyof Indexes]: CheckedIndex<Item, Indexes[Name]>
}

/** Values of the first properties, and bounds of the next one. */
type Bounds<Values, Before extends readonly unknown[] = readonly []> =
  | Equals<Before, Values extends readonly [infer Next, ...unknown[]] ? Next : undefined>
  | (Values extends readonly [infer Next, ...infer Rest]
      ? Bounds<Rest, readonly [...Before, Next]>
      : never)

type Equals<Before extends readonly unknown[], Next> = {
  /** Inclusive. */
  readonly from?: Next | undefined
  /** Exclusive. */
  readonly to?: Next | undefined
} & (Before extends readonly []
  ? { readonly equals?: readonly [] | undefined }
  : { readonly equals: Before })

/** Which items of an index: see `Collection`. */
export type IndexRange<Item, Indexes> = {
  [Name in keyof Indexes]: { readonly index: Name } & Bounds<ValuesOf<Item, Indexes[Name]>>
}[keyof Indexes]

interface AllByKey {
  readonly index?: undefined
  readonly equals?: undefined
  readonly from?: undefined
  readonly to?: undefined
}

/** All items of an owner by key, or items of an index. */
export type ItemRange<Item, Indexes> = AllByKey | IndexRange<Item, Indexes>

/** An item by all its values in a unique index. */
export type UniqueValues<Item, Indexes> = {
  [Name in keyof Indexes]: Indexes[Name] extends { readonly unique: true }
    ? { readonly index: Name; readonly equals: ValuesOf<Item, Indexes[Name]> }
    : never
}[keyof Indexes]
