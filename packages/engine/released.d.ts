// @plant-store/engine 1.0.0, written by `npm run released`
import type * as PromClient from 'prom-client'
import type { FastifyRequest } from 'fastify'
import type { Formats } from '@plant-store/json-schema'
import type { Logger } from 'pino'
import type { Schema } from '@plant-store/json-schema'
interface AllByKey {
  readonly index?: undefined
  readonly equals?: undefined
  readonly from?: undefined
  readonly to?: undefined
}
type AnswerOf<Returned> = Returned extends Written<infer _New, infer Answer> ? Answer : Returned
interface Body {
  readonly required: boolean
  readonly content: Readonly<Record<string, Media>>
}
type BodyKind = 'json' | 'text' | 'multipart' | 'urlencoded' | 'bytes'
type BodyValue<Type, Value> =
  Lower<Type> extends Json
    ? JsonValue<Value>
    : Lower<Type> extends 'text/event-stream'
      ? AsyncIterable<ServerEvent<Visible<Value, 'writeOnly'>>>
      : Lower<Type> extends Text
        ? Value
        : Uint8Array | AsyncIterable<Uint8Array>
type Body_2<Response> = Response extends {
  content: infer Content extends object
}
  ? {
      [Type in keyof Content]: {
        readonly body: BodyValue<Type, Content[Type]>
      } & MediaTypeProperty<Type, keyof Content>
    }[keyof Content]
  : {
      readonly body?: undefined
    }
type Both<Properties, Filled> = [keyof Filled] extends [never] ? Properties : Properties & Filled
type Bounds<Values, Before extends readonly unknown[] = readonly []> =
  | Equals<Before, Values extends readonly [infer Next, ...unknown[]] ? Next : undefined>
  | (Values extends readonly [infer Next, ...infer Rest]
      ? Bounds<Rest, readonly [...Before, Next]>
      : never)
type Check<Items extends ItemsAt, Returned> = [Faults<Items, Returned>] extends [never]
  ? unknown
  : {
      readonly 'these are no items of the change': Faults<Items, Returned>
    }
type Checked<Schemas, Defined> = {
  readonly [Name in keyof Defined]: Defined[Name] extends {
    readonly schema: infer Schema extends keyof Schemas
    readonly indexes: infer Indexes
  }
    ? {
        readonly indexes: CheckedIndexes<Schemas[Schema], Indexes>
      }
    : unknown
}
type CheckedIndex<Item, Definition> = Definition extends {
  readonly on: infer Paths
}
  ? {
      readonly on: CheckedPaths<Item, Paths>
    } & {
      readonly [
        _ in Exclude<keyof Definition, 'on' | 'unique'>
      ]: Refused<'an index has only on and unique'>
    }
  : CheckedPaths<Item, Definition>
type CheckedIndexes<Item, Indexes> = {
  readonly [Name in keyof Indexes]: CheckedIndex<Item, Indexes[Name]>
}
type CheckedPath<Item, Path> = [ValueAt<Item, Path>] extends [never]
  ? Refused<`the items have no property ${Path & string} that is a string, an integer, a number or a boolean`>
  : Path
type CheckedPaths<Item, Paths> = Paths extends readonly []
  ? Refused<'an index has a property'>
  : {
      readonly [At in keyof Paths]: CheckedPath<Item, Paths[At]>
    }
export interface Collection<Item, K extends Key = bigint, Indexes = unknown> {
  readonly indexes?: Defined<Indexes>
  create(owner: string, key: K, item: Item): Promise<Item>
  find(owner: string, key: K): Promise<Item | undefined>
  find(
    owner: string,
    values: UniqueValues<Item, Indexes>,
  ): Promise<
    | {
        readonly key: K
        readonly item: Item
      }
    | undefined
  >
  update(owner: string, key: K, change: (item: Item) => Item | undefined): Promise<Item | undefined>
  update<Returned extends Item | Written<Item | undefined, unknown> | undefined>(
    owner: string,
    key: K,
    change: (item: Item) => Returned,
  ): Promise<Updated<Item, Returned> | undefined>
  at(key: K): ItemAt<Item>
  delete(owner: string, key: K): Promise<boolean>
  list(owner: string, page?: PageRequest & OrderRequest<Item, Indexes>): Promise<Page<Item>>
  count(
    owner: string,
    range: ItemRange<Item, Indexes> & {
      readonly most: number
    },
  ): Promise<number>
  entries(
    owner: string,
    order?: OrderRequest<Item, Indexes>,
  ): AsyncIterable<{
    readonly key: K
    readonly item: Item
  }>
}
type Collections = Readonly<
  Record<
    string,
    {
      readonly key: KeyType
      readonly readIndexes?: () => Promise<readonly StoredIndex[]>
    }
  >
>
type CollectionsOf<Schemas, Defined extends Definitions<keyof Schemas & string>> = {
  readonly [Name in keyof Defined]: Collection<
    Schemas[Defined[Name]['schema']],
    KeyOf<Defined[Name]['key']>,
    Defined[Name] extends {
      readonly indexes: infer Indexes
    }
      ? Indexes
      : unknown
  >
}
interface Compiled {
  readonly title: string
  readonly sources: Readonly<Record<string, string>>
  readonly bundle: string | null
  readonly published?: string | undefined
  readonly baseUrl: readonly [from: number, to: number] | null
  readonly prefix: string
  readonly providers: readonly string[]
  readonly operations: readonly Operation[]
  readonly schemas: Readonly<Record<string, Schema>>
  readonly items: Readonly<Record<string, string>>
}
export interface CompiledContract<
  Components = unknown,
  Operations = unknown,
  Schemes = unknown,
> extends Compiled {
  readonly file: string
  readonly generated: string
  readonly types?: {
    readonly components: Components
    readonly operations: Operations
    readonly schemes: Schemes
  }
}
export type Config = {
  readonly [Name in keyof typeof variables]: NonNullable<
    ReturnType<(typeof variables)[Name][1]['read']>
  >
}
interface Contract extends Compiled {
  readonly file: string
  readonly bytes: Buffer
  readonly product: ProductHooks
  readonly refused?: readonly RefusedOperation[]
  readonly examples?: ContractExamples
}
interface ContractExamples {
  readonly operations: ReadonlyMap<string, OperationExamples>
  readonly isUnasked: boolean
}
interface ContractSources {
  readonly loadCompiler?: LoadCompiler | undefined
  readonly readDraft?: (config: Config, product: ProductHooks) => Promise<Contract | undefined>
}
type Defined<Indexes> = {
  readonly [Name in keyof Indexes]: {
    readonly on: PathsOf<Indexes[Name]> extends readonly [...infer Paths] ? Readonly<Paths> : never
    readonly unique: Indexes[Name] extends {
      readonly unique: true
    }
      ? true
      : false
  }
}
interface DefinedCollection {
  readonly schema: string
  readonly key: KeyType
  readonly indexes?: IndexDefinitions
  readonly readIndexes?: () => Promise<readonly StoredIndex[]>
}
type DefinedCollections = Readonly<Record<string, DefinedCollection>>
type Definitions<Schema extends string> = Readonly<
  Record<
    string,
    {
      readonly schema: Schema
      readonly key: KeyType
      readonly indexes?: IndexDefinitions
    }
  >
>
type DescribedBody<Operation> = Operation extends {
  requestBody?: unknown
}
  ? Operation['requestBody']
  : undefined
type Digit = '0' | '1' | '2' | '3' | '4' | '5' | '6' | '7' | '8' | '9'
type Environment = Readonly<Record<string, string | undefined>>
type Equals<Before extends readonly unknown[], Next> = {
  readonly from?: Next | undefined
  readonly to?: Next | undefined
} & (Before extends readonly []
  ? {
      readonly equals?: readonly [] | undefined
    }
  : {
      readonly equals: Before
    })
type ErrorFormat =
  | {
      readonly type: string
      readonly form: 'product'
      readonly schema: string
    }
  | {
      readonly type: string
      readonly form: 'template'
      readonly schema: string
      readonly template: Template
      readonly statuses?: Readonly<Record<number, Template>>
    }
  | {
      readonly type: string
      readonly form: 'text' | 'error' | 'problem' | 'code' | 'message'
    }
interface ErrorOrigin {
  readonly path: string
  readonly id: string
  readonly operationId: string
}
interface Example {
  readonly status: number
  readonly name?: string
  readonly type?: string
  readonly headers?: Readonly<Record<string, string | number | bigint | boolean>>
  readonly body?: unknown
  readonly isEvent?: true
}
type ExtraNames<Operations, Methods> = Exclude<keyof Methods, keyof Operations>
type Failures = 500 | 501 | 502 | 503 | 504 | 505 | 506 | 507 | 508 | 511
type Faults<Items extends ItemsAt, Returned> =
  Returned extends Written<infer New, unknown>
    ? [New] extends [never]
      ? never
      : New extends NewItems<Items>
        ? Exclude<keyof New, keyof Items>
        : keyof New
    : never
type FilledProperties<Value, Hidden extends 'readOnly' | 'writeOnly'> = {
  [Name in keyof Value as IsFilled<Value[Name], Hidden> extends true ? Name : never]-?: Visible<
    Value[Name],
    Hidden
  >
}
type Form = 'multipart/form-data' | 'application/x-www-form-urlencoded'
type HasMark<Property, Name> = [NonNullable<Property>] extends [never]
  ? false
  : [NonNullable<Property>] extends [
        {
          readonly $mark: Name
        },
      ]
    ? true
    : false
type Headers<Response> = Response extends {
  headers: infer Described
}
  ? HeadersProperty<Named<Described>>
  : unknown
type HeadersProperty<Described> = object extends Described
  ? {
      readonly headers?: Optional<Described>
    }
  : {
      readonly headers: Optional<Described>
    }
export interface Identity {
  readonly caller?: string
  readonly scopes: readonly string[]
}
type IndexDefinition =
  | readonly string[]
  | {
      readonly on: readonly string[]
      readonly unique?: boolean
    }
type IndexDefinitions = Readonly<Record<string, IndexDefinition>>
type IndexRange<Item, Indexes> = {
  [Name in keyof Indexes]: {
    readonly index: Name
  } & Bounds<ValuesOf<Item, Indexes[Name]>>
}[keyof Indexes]
type IndexType = 'string' | 'int64' | 'number' | 'boolean'
interface IndexedProperty {
  readonly path: readonly string[]
  readonly type: IndexType
}
type IntersectionOf<Union> = (Union extends unknown ? (member: Union) => void : never) extends (
  intersection: infer Intersection,
) => void
  ? Intersection
  : never
type IsFilled<Property, Hidden> = 'readOnly' extends Hidden ? HasMark<Property, 'default'> : false
interface ItemAt<Item> {
  readonly item?: Item
  changeTogether(
    owner: string,
    items: Readonly<Record<string, ItemAt<unknown>>>,
    decide: (stored: Readonly<Record<string, unknown>>) => unknown,
  ): Promise<unknown>
}
interface ItemFormat<Item> {
  readonly parse: (text: string) => Item
  readonly write?: (item: Item) => string
}
type ItemRange<Item, Indexes> = AllByKey | IndexRange<Item, Indexes>
type ItemsAt = Readonly<Record<string, ItemAt<unknown>>>
type Json = 'application/json' | 'text/json' | `${string}+json`
export declare class JsonText<Value> {
  readonly text: string
  protected readonly value: Value
  constructor(text: string)
}
type JsonValue<Value> =
  | Visible<Value, 'writeOnly'>
  | JsonText<Visible<Value, 'writeOnly'>>
  | (Value extends readonly unknown[]
      ? AsyncIterable<JsonText<Visible<Value, 'writeOnly'>>>
      : never)
type Key = bigint | string
type KeyOf<Type extends KeyType> = Type extends 'text' ? string : bigint
type KeyType = 'int64' | 'text'
interface Literals {
  readonly status: 200
  readonly type: 'text/csv'
}
type LoadCompiler = () => Promise<{
  readonly compile: (file: string, product: ProductHooks) => Promise<Compiled>
}>
type Lower<Type> = Lowercase<Type & string>
export interface Mark<Value, Name = 'readOnly' | 'writeOnly' | 'default'> {
  readonly $mark: Name
  readonly $value: Value
}
interface Media {
  readonly kind: BodyKind
  readonly schema: string | null
  readonly limit: number
}
type MediaTypeProperty<Type, Declared> = Type extends `${infer Kind}/*`
  ? {
      readonly type: Kind extends '*' ? `${string}/${string}` : `${Kind}/${string}`
    }
  : [Declared] extends [Type]
    ? {
        readonly type?: Type
      }
    : {
        readonly type: Type
      }
type MethodLog = Pick<FastifyRequest['log'], 'debug' | 'info' | 'warn' | 'error'>
type MetricOptions<Configuration> = Omit<Configuration, 'registers'>
type MissingMethods<Operations, Methods> = Pick<
  Service<Operations>,
  Exclude<keyof Operations, keyof Methods>
>
type Named<Described> = {
  readonly [Name in keyof Described as string extends Name ? never : Name]: Described[Name]
}
type NewItems<Items extends ItemsAt> = {
  readonly [Name in keyof Items]?: (Items[Name] extends ItemAt<infer Item> ? Item : never) | Removed
}
export declare class NotUnique extends Error {
  readonly name = 'NotUnique'
  readonly collection: string
  readonly index: string
  constructor(collection: string, index: string)
}
type OneType<Value> = [Value] extends [string]
  ? Value
  : [Value] extends [bigint]
    ? Value
    : [Value] extends [number]
      ? Value
      : [Value] extends [boolean]
        ? Value
        : never
export interface OpenContext {
  readonly env: Environment
  readonly log: MethodLog
  readonly metrics: ProductMetrics
}
type OpenStore = (options: StoreOptions) => Promise<Store>
interface Opened {
  readonly check?: (signal: AbortSignal) => unknown
  readonly close?: () => unknown
}
interface Operation {
  readonly id: string
  readonly method: string
  readonly path: string
  readonly security: readonly (readonly Requirement[])[]
  readonly parameters: readonly Parameter[]
  readonly body: Body | null
  readonly responses: Readonly<Record<string, Response>>
  readonly errors: Readonly<Record<string, ErrorFormat>>
}
interface OperationExamples {
  readonly answers: readonly Example[]
  readonly lacking: readonly number[]
  readonly method: string
}
type Optional<Described> = {
  [Name in keyof Described]: object extends Pick<Described, Name>
    ? Described[Name] | undefined
    : Described[Name]
}
type OrderRequest<Item, Indexes> = ItemRange<Item, Indexes> & {
  readonly descending?: boolean | undefined
}
export interface Page<Item> {
  readonly items: JsonText<Item[]> | AsyncIterable<JsonText<Item[]>>
  readonly next?: string
}
interface PageRequest {
  readonly limit?: number | undefined
  readonly cursor?: string | undefined
}
interface Parameter {
  readonly in: 'path' | 'query' | 'header' | 'cookie'
  readonly name: string
  readonly required: boolean
  readonly schema: string
  readonly allowEmptyValue?: true
  readonly sentAs?: 'list' | 'pairs' | 'assignments' | 'members' | 'deepObject' | 'json'
  readonly members?: readonly string[]
  readonly reserved?: readonly string[]
}
type Parameters<Operation, Place extends string> = Operation extends {
  parameters: {
    [_ in Place]?: infer Values extends object
  }
}
  ? Readonly<Visible<Values, 'readOnly'>>
  : unknown
type PathsOf<Definition> = Definition extends {
  readonly on: infer Paths
}
  ? Paths
  : Definition
interface Problem<Status, Title> {
  readonly type: 'about:blank'
  readonly title: Title
  readonly status: Status
}
interface ProblemResult<Status, Body> {
  readonly status: Status
  readonly type: 'application/problem+json'
  readonly body: Body
}
export interface Product<OpenCollections = unknown> extends ProductHooks {
  readonly types?: {
    readonly collections: OpenCollections
  }
  readonly name: string
  readonly tokenPrefix: string
  readonly contract: CompiledContract
  readonly store?: OpenStore | undefined
  readonly collections: DefinedCollections
  readonly open?: (context: OpenContext) => Promise<Opened>
  readonly services: (
    collections: Readonly<Record<string, unknown>>,
    opened: Opened,
  ) => readonly object[]
}
export type ProductGuard = (
  request: FastifyRequest,
  credentials: string,
  signal: AbortSignal,
) => Identity | undefined | Promise<Identity | undefined>
interface ProductHooks {
  readonly tokenTypes?: readonly TokenType[]
  readonly guards?: Readonly<Partial<Record<string, ProductGuard>>>
  readonly errorBody?: (status: number, message: string, origin: ErrorOrigin) => unknown
  readonly collections?: DefinedCollections
  readonly without?: readonly string[]
  readonly refsWithin?: string
  readonly formats?: Formats
}
interface ProductMetrics {
  readonly counter: <Label extends string = never>(
    options: MetricOptions<PromClient.CounterConfiguration<Label>>,
  ) => PromClient.Counter<Label>
  readonly gauge: <Label extends string = never>(
    options: MetricOptions<PromClient.GaugeConfiguration<Label>>,
  ) => PromClient.Gauge<Label>
  readonly histogram: <Label extends string = never>(
    options: MetricOptions<PromClient.HistogramConfiguration<Label>>,
  ) => PromClient.Histogram<Label>
}
type PropertyAt<Item, Path> = Path extends `${infer Name}.${infer Rest}`
  ? PropertyAt<PropertyOf<Item, Name>, Rest>
  : PropertyOf<Item, Path>
type PropertyOf<Item, Name> = Item extends object
  ? Name extends keyof Item
    ? Item[Name]
    : never
  : never
declare const REMOVED: unique symbol
type Range = `${string}/*`
type RangedType<Described> = Described extends {
  content: infer Content
}
  ? Extract<keyof Content, Range> extends never
    ? undefined
    : string
  : undefined
type Redirects = 300 | 301 | 302 | 303 | 304 | 305 | 307 | 308
type Refusals =
  | 400
  | 401
  | 402
  | 403
  | 404
  | 405
  | 406
  | 407
  | 408
  | 409
  | 410
  | 411
  | 412
  | 413
  | 414
  | 415
  | 416
  | 417
  | 421
  | 422
  | 423
  | 424
  | 425
  | 426
  | 428
  | 429
  | 431
  | 451
type Refused<Message extends string> = {
  readonly [_ in Message]: true
}
type RefusedMethods<Operations, Methods> = {
  readonly [_ in ExtraNames<Operations, Methods>]?: 'The contract has no operation of this name'
}
interface RefusedOperation {
  readonly id: string
  readonly method: string
  readonly path: string
  readonly fault: string
}
type Registered = Successes | Redirects | Refusals | Failures
interface Removed {
  readonly [REMOVED]: true
}
type RequestBody<Described> = Described extends {
  content: infer Content
}
  ? {
      [Type in keyof Content]: RequestValue<Type, Content[Type]>
    }[keyof Content]
  : undefined
export interface RequestOf<Operation> {
  readonly caller: string
  readonly scopes: ReadonlySet<string>
  readonly path: Parameters<Operation, 'path'>
  readonly query: Parameters<Operation, 'query'>
  readonly header: Parameters<Operation, 'header'>
  readonly cookie: Parameters<Operation, 'cookie'>
  readonly body: RequestBody<DescribedBody<Operation>>
  readonly type: RangedType<DescribedBody<Operation>>
  readonly log: MethodLog
  readonly signal: AbortSignal
}
type RequestValue<Type, Value> =
  Lower<Type> extends Json | Form
    ? Visible<Value, 'readOnly'>
    : Lower<Type> extends Text
      ? Value
      : AsyncIterable<Uint8Array>
interface Requirement {
  readonly scheme: SecurityScheme
  readonly scopes: readonly string[]
}
type Response = Readonly<Record<string, ResponseMedia>>
interface ResponseMedia extends Pick<Media, 'kind' | 'schema'> {
  readonly events?: true
}
export type ResultOf<Operation, Id extends string = never> = Operation extends {
  responses: infer Responses
}
  ? Results<Responses> | Undeclared<Results<Responses>['status'], Id>
  : never
type Results<Responses> = {
  [Key in keyof Responses]: {
    readonly status: Status<Key, keyof Responses>
  } & Headers<Responses[Key]> &
    Body_2<Responses[Key]>
}[keyof Responses]
type SchemasOf<Components> = Components extends {
  schemas: infer Schemas
}
  ? Schemas
  : never
interface SecurityScheme {
  readonly name: string
  readonly type: 'bearer' | 'apiKey' | 'other'
  readonly in: 'header' | 'query' | 'cookie' | 'connection'
  readonly key: string
  readonly challenge: string
}
interface ServerEvent<Data> {
  readonly id?: string | undefined
  readonly event?: string | undefined
  readonly retry?: number | undefined
  readonly data: Data
}
type Service<Operations> = {
  [Id in keyof Operations]: (
    request: RequestOf<Operations[Id]>,
  ) => Promise<ResultOf<Operations[Id], Id & string>>
}
type ServiceClass<Operations, Methods> = Partial<Service<Operations>> &
  ([ExtraNames<Operations, Methods>] extends [never]
    ? MissingMethods<Operations, Methods>
    : RefusedMethods<Operations, Methods>)
type ServicesOf<Operations, Classes extends readonly object[]> = readonly [...Classes] & {
  readonly [_ in keyof Classes]: ServiceClass<Operations, IntersectionOf<Classes[number]>>
}
type Settings = Pick<Config, 'DATABASE_POOL_SIZE' | 'DATABASE_TIMEOUT'> &
  Partial<Pick<Config, 'NODE_ENV' | 'DATABASE_PASSWORD_FILE'>>
type Status<Key, Declared> = Key extends number
  ? Key
  : Key extends `${infer Class}XX`
    ? Exclude<StatusesInClass<Class>, Declared>
    : Extract<Declared, Success> extends never
      ? Exclude<StatusesInClass<'2' | '3' | '4' | '5'>, Declared>
      : never
type StatusesInClass<Class extends string> = ToNumber<`${Class}${Digit}${Digit}`>
interface Store {
  collection<Item, K extends Key, Indexes = unknown>(
    name: string,
    format: ItemFormat<Item>,
  ): Collection<Item, K, Indexes>
  counts(): Promise<Readonly<Record<string, number>>>
  isEmpty(): Promise<boolean>
  ping(): Promise<void>
  stats(): StoreStats
  dataVersion(): number | undefined
  close(): Promise<void>
}
interface StoreEvents {
  readonly log: Pick<Logger, 'info' | 'warn' | 'error'>
  readonly onFailure: (message: string, error: unknown) => void
}
type StoreOf<Defined> = [Defined] extends [never]
  ? unknown
  : {
      readonly store: OpenStore
    }
interface StoreOptions {
  readonly database: Config['DATABASE_URL']
  readonly collections: Collections
  readonly isExclusive: boolean
  readonly settings: Settings
  readonly events?: StoreEvents
}
interface StoreStats {
  readonly commits: number
  readonly writes: number
  readonly walBytes?: number
  readonly pool?: Readonly<Record<'size' | 'used' | 'idle' | 'waiting', number>>
}
interface StoredIndex {
  readonly name: string
  readonly isUnique: boolean
  readonly properties: readonly IndexedProperty[]
}
type StoredItems<Items extends ItemsAt> = {
  readonly [Name in keyof Items]: Items[Name] extends ItemAt<infer Item> ? Item | undefined : never
}
type Success = StatusesInClass<'2' | '3'> | '2XX' | '3XX'
type Successes = 200 | 201 | 202 | 203 | 204 | 205 | 206 | 207 | 208 | 226
type Template =
  | string
  | number
  | bigint
  | boolean
  | null
  | readonly Template[]
  | {
      readonly [name: string]: Template
    }
type Text = `text/${string}` | `application/${'xml' | 'yaml' | 'x-yaml'}` | `${string}+xml`
type ToNumber<Digits> = Digits extends `${infer Value extends number}` ? Value : never
type TokenType = 'bearer' | 'apiKey'
type Undeclared<Declared, Id extends string> = {
  readonly [Status in Exclude<Registered, Declared>]: Id extends unknown
    ? UndeclaredResult<
        Status,
        `the contract declares no ${Status}: add it to the responses of ${Id}`
      >
    : never
}[Exclude<Registered, Declared>]
type UndeclaredResult<Status, Message extends string> = {
  readonly [_ in Message]: never
} & {
  readonly status: Status
  readonly type?: unknown
  readonly headers?: unknown
  readonly body?: unknown
}
type UniqueValues<Item, Indexes> = {
  [Name in keyof Indexes]: Indexes[Name] extends {
    readonly unique: true
  }
    ? {
        readonly index: Name
        readonly equals: ValuesOf<Item, Indexes[Name]>
      }
    : never
}[keyof Indexes]
type Updated<Item, Returned> = Returned extends Written<unknown, infer Answer> ? Answer : Item
type ValueAt<Item, Path> = OneType<NonNullable<PropertyAt<Item, Path>>>
type ValuesAt<Item, Paths> = {
  readonly [At in keyof Paths]: ValueAt<Item, Paths[At]>
}
type ValuesOf<Item, Definition> = ValuesAt<Item, PathsOf<Definition>>
interface VariableType<Value> {
  readonly values: string
  readonly read: (written: string) => Value | undefined
}
export type Visible<Value, Hidden extends 'readOnly' | 'writeOnly'> =
  Value extends Mark<infer Unmarked>
    ? Visible<Unmarked, Hidden>
    : Value extends readonly unknown[]
      ? {
          [Index in keyof Value]: Visible<Value[Index], Hidden>
        }
      : Value extends File
        ? File
        : Value extends object
          ? Both<VisibleProperties<Value, Hidden>, FilledProperties<Value, Hidden>>
          : Value
type VisibleProperties<Value, Hidden extends 'readOnly' | 'writeOnly'> = {
  [Name in keyof Value as HasMark<Value[Name], Hidden> extends true ? never : Name]: Visible<
    Value[Name],
    Hidden
  >
}
declare class Written<New, Answer> {
  readonly items: New
  readonly answer: Answer
  constructor(items: New, answer: Answer)
}
export declare function change<
  Items extends ItemsAt,
  Returned = never,
  New extends object = never,
  Answer = never,
>(
  owner: string,
  items: Items,
  decide: ((stored: StoredItems<Items>) => Returned | Written<New, Answer>) &
    Check<Items, Returned | Written<New, Answer>>,
): Promise<AnswerOf<Returned> | Answer>
export declare function defineProduct<
  Components,
  Operations,
  Schemes,
  const Classes extends readonly object[],
  const Defined extends Definitions<keyof SchemasOf<Components> & string> = never,
  Own = unknown,
>(
  product: Pick<Product, 'name' | 'errorBody' | 'formats' | 'without' | 'refsWithin'> &
    Partial<Pick<Product, 'tokenPrefix'>> &
    StoreOf<Defined> & {
      readonly contract: CompiledContract<Components, Operations, Schemes>
      readonly store?: OpenStore
      readonly collections?: Defined & Checked<SchemasOf<Components>, NoInfer<Defined>>
      readonly open?: (context: OpenContext) => Promise<Own & Opened>
      readonly services: (
        collections: CollectionsOf<SchemasOf<Components>, Defined>,
        opened: Own,
      ) => ServicesOf<Operations, Classes>
      readonly guards?: {
        readonly [Name in Schemes & string]?: ProductGuard
      }
    },
): Product<CollectionsOf<SchemasOf<Components>, Defined>>
export declare function etag(item: unknown): string
export declare function matches(
  header: string,
  tag: string | undefined,
  comparison?: 'weak' | 'strong',
): boolean
export declare function notWritten(): Promise<never>
export declare const openCollections: <Collections>(
  product: Product<Collections>,
  store: Pick<Store, 'collection'>,
) => Promise<Collections>
export declare function problem<Status extends number, Title extends string>(
  status: Status,
  title: Title,
): ProblemResult<Status, Problem<Status, Title>>
export declare function problem<Status extends number, Title extends string>(
  status: Status,
  title: Title,
  detail: string,
): ProblemResult<
  Status,
  Problem<Status, Title> & {
    readonly detail: string
  }
>
export declare function problem<Status extends number, Title extends string>(
  status: Status,
  title: Title,
  detail: string | undefined,
): ProblemResult<
  Status,
  Problem<Status, Title> & {
    readonly detail?: string
  }
>
export declare function readConfig(name: string, environment?: Environment): Config
export declare function refusal<Status extends number>(
  status: Status,
  message: string,
): {
  readonly status: Status
  readonly body: {
    readonly error: Status
    readonly message: string
  }
}
export declare const removed: Removed
export declare const runService: (product: Product, sources: ContractSources) => Promise<void>
export declare const start: (product: Product, loadCompiler?: LoadCompiler) => Promise<void>
export declare const token: (product: Product) => Promise<void>
declare const variables: {
  HOST: [string, VariableType<string>, string]
  PORT: [string, VariableType<number>, string]
  ADMIN_PORT: [string, VariableType<number>, string]
  DATABASE_URL: [
    string,
    VariableType<
      | {
          readonly file: string
        }
      | {
          readonly url: string
        }
    >,
    string,
  ]
  DATABASE_PASSWORD_FILE: [string, VariableType<string>, string]
  DATABASE_POOL_SIZE: [string, VariableType<number>, string]
  DATABASE_TIMEOUT: [string, VariableType<number>, string]
  BASE_URL: [string, VariableType<string>, string]
  DOCS: [string, VariableType<'on' | 'off'>, string]
  CORS_ORIGINS: [string, VariableType<string[]>, string]
  TRUST_PROXY: [string, VariableType<string[]>, string]
  LOG_LEVEL: [
    string,
    VariableType<'info' | 'fatal' | 'error' | 'warn' | 'debug' | 'trace' | 'silent'>,
    string,
  ]
  NODE_ENV: [string, VariableType<string>, string]
  JWT_ISSUER: [string, VariableType<string>, string]
  JWT_AUDIENCE: [string, VariableType<string>, string]
  JWT_TYPE: [string, VariableType<'at+jwt' | 'JWT'>, string]
  JWKS_URL: [string, VariableType<string>, string]
  MAX_CONNECTIONS: [string, VariableType<number>, string]
  HEADERS_TIMEOUT: [string, VariableType<number>, string]
  REQUEST_TIMEOUT: [string, VariableType<number>, string]
  KEEP_ALIVE_TIMEOUT: [string, VariableType<number>, string]
  STALL_TIMEOUT: [string, VariableType<number>, string]
  ANSWER_TIMEOUT: [string, VariableType<number>, string]
  DRAIN_DELAY: [string, VariableType<number>, string]
  SHUTDOWN_TIMEOUT: [string, VariableType<number>, string]
  OTEL_EXPORTER_OTLP_ENDPOINT: [string, VariableType<string>, string]
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: [string, VariableType<string>, string]
  OTEL_TRACES_EXPORTER: [string, VariableType<string>, string]
}
export declare function write<New extends object>(items: New): Written<New, undefined>
export declare function write<New extends object, Answer>(
  items: New,
  answer: Answer | (Answer & Literals),
): Written<New, Answer>
export declare function write<New>(item: New): Written<New, undefined>
export declare function write<New, Answer>(
  item: New,
  answer: Answer | (Answer & Literals),
): Written<New, Answer>
export {}
