import type { Config } from './config.ts'
import type { CompiledContract } from './contract/compiled.ts'
import type { Extensions, ProductGuard } from './contract/extensions.ts'
import type { Service } from './contract/types.ts'
import { StartupError } from './errors.ts'
import { ACCESS_TOKENS, type Collection, type KeyType, type OpenStore } from './store.ts'

/** What a product says about itself. */
export interface Product extends Extensions {
  /** Names the service in metrics, traces, challenges and the default file of the database: `a-z`, `0-9`, `_`, at most 32. */
  readonly name: string
  /** The beginning of its access tokens: characters as in `name`. */
  readonly tokenPrefix: string
  /** The one of `contract.gen.ts`. */
  readonly contract: CompiledContract
  /** Opens what keeps its collections and its access tokens. Without it there are none of both. */
  readonly store?: OpenStore | undefined
  /** What it stores: a table for each. */
  readonly collections: Definitions<string>
  /** Makes its services from its collections. Together they have a method for each operation, and no other. */
  readonly services: (collections: Readonly<Record<string, unknown>>) => readonly object[]
}

/** Collections by name: the schema of the items, of `components/schemas` in the contract, and the type of their keys. */
type Definitions<Schema extends string> = Readonly<
  Record<string, { readonly schema: Schema; readonly key: KeyType }>
>

type SchemasOf<Components> = Components extends { schemas: infer Schemas } ? Schemas : never

/** The collections that the services get, by name. */
type Opened<Schemas, All extends Definitions<keyof Schemas & string>> = {
  readonly [Name in keyof All]: Collection<
    Schemas[All[Name]['schema']],
    All[Name]['key'] extends 'text' ? string : bigint
  >
}

/** What a product with collections must have besides. */
type StoreOf<All> = [All] extends [never] ? unknown : { readonly store: OpenStore }

/** The methods that several classes have together. */
type Together<Classes> = (Classes extends unknown ? (each: Classes) => void : never) extends (
  all: infer All,
) => void
  ? All
  : never

/** What each class must be, where the classes together have these methods. */
type Fitting<Operations, Methods> = Partial<Service<Operations>> &
  (Exclude<keyof Methods, keyof Operations> extends never
    ? Pick<Service<Operations>, Exclude<keyof Operations, keyof Methods>> // those that no class has
    : {
        readonly [
          _ in Exclude<keyof Methods, keyof Operations>
        ]?: 'The contract has no operation of this name'
      })

/** Names that fit into metrics (https://prometheus.io/docs/concepts/data_model/) and names of tables. */
const NAME = /^[a-z][a-z0-9_]{0,31}$/

/**
 * Defines a product. Without a `tokenPrefix`, its tokens begin with its name. Without a `store`, it has no collections and
 * no access tokens.
 * @throws {StartupError} if a name is not valid, or there are collections without a store
 */
export function defineProduct<
  Components,
  Operations,
  Schemes,
  const Classes extends readonly object[],
  const All extends Definitions<keyof SchemasOf<Components> & string> = never,
>(
  product: Pick<Product, 'name' | 'errorBody' | 'formats'> &
    Partial<Pick<Product, 'tokenPrefix'>> &
    StoreOf<All> & {
      readonly contract: CompiledContract<Components, Operations, Schemes>
      readonly store?: OpenStore
      readonly collections?: All
      readonly services: (opened: Opened<SchemasOf<Components>, All>) => readonly [...Classes] & {
        readonly [_ in keyof Classes]: Fitting<Operations, Together<Classes[number]>>
      }
      readonly guards?: { readonly [Name in Schemes & string]?: ProductGuard }
    },
): Product {
  const { name, tokenPrefix = name, store, collections = {}, services } = product
  const wrong = [name, tokenPrefix].find((each) => !NAME.test(each))
  if (wrong !== undefined)
    throw new StartupError(`the name "${wrong}" must be a-z, 0-9 and _, at most 32 characters`)
  if (store === undefined && Object.keys(collections).length > 0)
    throw new StartupError('the product has collections: it needs a store (store: openStore)')
  if (Object.hasOwn(collections, ACCESS_TOKENS))
    throw new StartupError(`the collection ${ACCESS_TOKENS} needs another name: the engine has it`)
  // app.ts makes a collection for each definition.
  return {
    ...product,
    tokenPrefix,
    collections,
    // JWTs are taken where JWT_ISSUER is set, which only a start knows.
    tokenTypes: store === undefined ? ['bearer'] : ['bearer', 'apiKey'],
    services: (opened) => services(opened as Parameters<typeof services>[0]),
  }
}

/** What a product adds to its contract at a start. Without a store and an identity provider, the service checks no tokens. */
export function extensionsAt(product: Product, { JWT_ISSUER }: Config): Extensions {
  return product.store || JWT_ISSUER !== '' ? product : { ...product, tokenTypes: [] }
}
