// Defines a product, and checks in its types that its services fit the contract.
import type { Config, Environment } from './config.ts'
import type { CompiledContract } from './contract/compiled.ts'
import type { CheckedIndexes, IndexDefinitions } from './index-types.ts'
import type { MethodLog } from './operation/input/method-request.ts'
import type { DefinedCollections, ProductGuard, ProductHooks } from './contract/product-hooks.ts'
import type { Service } from './operation/types.ts'
import { StartupError } from './errors.ts'
import type { ProductMetrics } from './http/metrics.ts'
import { ACCESS_TOKENS, type Collection, type KeyType, type OpenStore } from './store.ts'

/**
 * A product: its contract, its services and its collections.
 * @example
 * ```ts
 * import type { Product } from '@plant-store/engine'
 *
 * export const namesOf = ({ collections }: Product) => Object.keys(collections)
 * ```
 */
export interface Product<OpenCollections = unknown> extends ProductHooks {
  /** Never set: it carries type parameters for TypeScript. */
  readonly types?: { readonly collections: OpenCollections }
  /**
   * Names the service in metrics, traces, challenges and the default file of the database: `a-z`,
   * `0-9`, `_`, at most 32.
   */
  readonly name: string
  /** The beginning of the access tokens: characters as in `name`. */
  readonly tokenPrefix: string
  /** The `contract` of `contract.gen.ts`. */
  readonly contract: CompiledContract
  /**
   * Opens the store of the collections and the access tokens. Without a store, there are neither.
   */
  readonly store?: OpenStore | undefined
  /** The collections by name. The store has a table for each of them. */
  readonly collections: DefinedCollections
  /**
   * Opens resources of the product, such as a client of another service. Called once, before the
   * port of the service listens; by no command.
   */
  readonly open?: (context: OpenContext) => Promise<Opened>
  /**
   * Makes the services from the collections and the product's resources. Together, the services
   * have a method for each operation, and no other method.
   */
  readonly services: (
    collections: Readonly<Record<string, unknown>>,
    opened: Opened,
  ) => readonly object[]
}

/**
 * The argument of a product's `open`.
 * @example
 * ```ts
 * import type { OpenContext } from '@plant-store/engine'
 *
 * export async function openMail({ env, log, metrics }: OpenContext) {
 *   const server = env['MAIL_SERVER'] ?? 'http://127.0.0.1:8025'
 *   const sent = metrics.counter({ name: 'mails_total', help: 'Mails that were sent' })
 *   log.info({ server }, 'mails are sent')
 *   return {
 *     send: async (text: string, signal: AbortSignal) => {
 *       await fetch(server, { method: 'POST', body: text, signal })
 *       sent.inc()
 *     },
 *     check: async () => fetch(server),
 *   }
 * }
 * ```
 */
export interface OpenContext {
  /** The variables of the environment. The files of a product read them only here. */
  readonly env: Environment
  readonly log: MethodLog
  /** Makes metrics of the product, shown by `/metrics`. Their names begin with its name. */
  readonly metrics: ProductMetrics
}

/** The product's resources: the engine calls only these two functions. */
export interface Opened {
  /**
   * Called by `/readyz`, which is 503 if this function throws, takes more than a second, or returns
   * `false`. Calls never overlap. After a second the signal aborts, and the next probe calls again.
   */
  readonly check?: (signal: AbortSignal) => unknown
  /**
   * Called at the end of the process, after the last request and before the store closes. The
   * process does not wait long for it.
   */
  readonly close?: () => unknown
}

/**
 * Collections by name: the schema of the items in `components/schemas`, the type of their keys, and
 * their indexes.
 */
type Definitions<Schema extends string> = Readonly<
  Record<
    string,
    { readonly schema: Schema; readonly key: KeyType; readonly indexes?: IndexDefinitions }
  >
>

/** The schemas of generated `components`, by name. */
type SchemasOf<Components> = Components extends { schemas: infer Schemas } ? Schemas : never

/**
 * The collections given to the services, by name.
 * @example `{ notes: { schema: 'Note', key: 'int64' } }` gives `{ notes: Collection<Note, bigint> }`
 */
type CollectionsOf<Schemas, Defined extends Definitions<keyof Schemas & string>> = {
  readonly [Name in keyof Defined]: Collection<
    Schemas[Defined[Name]['schema']],
    KeyOf<Defined[Name]['key']>,
    Defined[Name] extends { readonly indexes: infer Indexes } ? Indexes : unknown
  >
}
/** Refuses indexes that do not fit the schemas of their items. */
type Checked<Schemas, Defined> = {
  readonly [Name in keyof Defined]: Defined[Name] extends {
    readonly schema: infer Schema extends keyof Schemas
    readonly indexes: infer Indexes
  }
    ? { readonly indexes: CheckedIndexes<Schemas[Schema], Indexes> }
    : unknown
}
type KeyOf<Type extends KeyType> = Type extends 'text' ? string : bigint

/** A product with collections must have a store. Without any, `Defined` is `never`. */
type StoreOf<Defined> = [Defined] extends [never] ? unknown : { readonly store: OpenStore }

/**
 * The intersection of the types of a union: the methods of several classes together. TypeScript
 * infers it for the parameter of a function that takes any of the types.
 * @example `{ a(): void } | { b(): void }` gives `{ a(): void } & { b(): void }`
 */
type IntersectionOf<Union> = (Union extends unknown ? (member: Union) => void : never) extends (
  intersection: infer Intersection,
) => void
  ? Intersection
  : never

type ExtraNames<Operations, Methods> = Exclude<keyof Methods, keyof Operations>
type MissingMethods<Operations, Methods> = Pick<
  Service<Operations>,
  Exclude<keyof Operations, keyof Methods>
>
/** Refuses methods without an operation: TypeScript shows this message. */
type RefusedMethods<Operations, Methods> = {
  readonly [_ in ExtraNames<Operations, Methods>]?: 'The contract has no operation of this name'
}

/**
 * The required type of each class: methods of operations, and no other.
 * @template Methods of all classes together
 */
type ServiceClass<Operations, Methods> = Partial<Service<Operations>> &
  ([ExtraNames<Operations, Methods>] extends [never]
    ? MissingMethods<Operations, Methods>
    : RefusedMethods<Operations, Methods>)

/** The services of a product: together they have a method for each operation. */
type ServicesOf<Operations, Classes extends readonly object[]> = readonly [...Classes] & {
  readonly [_ in keyof Classes]: ServiceClass<Operations, IntersectionOf<Classes[number]>>
}

/** Names for metrics (https://prometheus.io/docs/concepts/data_model/) and tables. */
const PRODUCT_NAME = /^[a-z][a-z0-9_]{0,31}$/

/**
 * Defines a product. Without a `tokenPrefix`, its tokens begin with its name. Without a `store`, it
 * has no collections and no access tokens.
 * @throws {StartupError} if a name is not valid, or there are collections without a store
 * @example
 * ```ts
 * import { contract } from './contract.gen.ts'
 * import { defineProduct } from '@plant-store/engine'
 * import { NoteService } from './note-service.ts'
 * import { openStore } from '@plant-store/store'
 *
 * export const product = defineProduct({
 *   name: 'notes',
 *   contract,
 *   store: openStore,
 *   collections: { notes: { schema: 'Note', key: 'int64' } },
 *   services: ({ notes }) => [new NoteService(notes)],
 * })
 * ```
 */
export function defineProduct<
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
      // Before `services`: TypeScript infers in this order the parameters of `services`.
      readonly open?: (context: OpenContext) => Promise<Own & Opened>
      readonly services: (
        collections: CollectionsOf<SchemasOf<Components>, Defined>,
        opened: Own,
      ) => ServicesOf<Operations, Classes>
      readonly guards?: { readonly [Name in Schemes & string]?: ProductGuard }
    },
): Product<CollectionsOf<SchemasOf<Components>, Defined>> {
  const { name, tokenPrefix = name, store, services } = product
  const collections: Definitions<string> = product.collections ?? {}
  checkName(name)
  checkName(tokenPrefix)
  if (store === undefined && Object.keys(collections).length > 0)
    throw new StartupError('the product has collections: it needs a store (store: openStore)')
  if (Object.hasOwn(collections, ACCESS_TOKENS))
    throw new StartupError(`the collection ${ACCESS_TOKENS} needs another name: the engine has it`)
  return {
    ...product,
    tokenPrefix,
    collections: defineCollections(product.contract, collections),
    // JWTs are taken where JWT_ISSUER is set, which only a start knows.
    tokenTypes: store === undefined ? ['bearer'] : ['bearer', 'apiKey'],
    // app.ts opens a collection for each definition, and passes the result of `open`.
    services: (collections, opened) =>
      services(collections as Parameters<typeof services>[0], opened as Own),
  }
}

/** Adds to collections with indexes how to read the types of their values. */
function defineCollections(
  contract: CompiledContract,
  collections: Definitions<string>,
): DefinedCollections {
  const defined = Object.entries(collections).map(([name, { schema, key, indexes }]) => {
    if (indexes === undefined) return [name, { schema, key }] as const
    const collection = { schema, key, indexes }
    const readIndexes = async () => {
      const { storedIndexes } = await import('./contract/indexes.ts') // loads the reader of schemas
      return storedIndexes(contract, name, collection)
    }
    return [name, { ...collection, readIndexes }] as const
  })
  return Object.fromEntries(defined)
}

/** @throws {StartupError} if a name is not valid */
function checkName(name: string): void {
  if (!PRODUCT_NAME.test(name))
    throw new StartupError(`the name "${name}" must be a-z, 0-9 and _, at most 32 characters`)
}

/**
 * The hooks of a product at a start. Without a store and an identity provider, the service checks
 * no tokens.
 */
export function hooksAt(product: Product, { JWT_ISSUER }: Config): ProductHooks {
  const hasTokens = product.store !== undefined || JWT_ISSUER !== ''
  return hasTokens ? product : { ...product, tokenTypes: [] }
}
