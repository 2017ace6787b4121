import type { CompiledContract } from './contract/compiled.ts'
import type { Extensions, ProductGuard } from './contract/extensions.ts'
import type { Service } from './contract/types.ts'
import { StartupError } from './errors.ts'
import type { Collection, KeyType } from './store/store.ts'

/** Collections by name: the schema of the items, of `components/schemas` in the contract, and the type of their keys. */
type Definitions<Schemas> = Readonly<Record<string, { readonly schema: keyof Schemas & string; readonly key: KeyType }>>

type SchemasOf<Components> = Components extends { schemas: infer Schemas } ? Schemas : never

/** The collections that the services get, by name. */
type Opened<Schemas, All extends Definitions<Schemas>> = {
  readonly [Name in keyof All]: Collection<
    Schemas[All[Name]['schema']],
    All[Name]['key'] extends 'text' ? string : bigint
  >
}

/** The methods that several classes have together. */
type Together<Classes> = (Classes extends unknown ? (each: Classes) => void : never) extends (all: infer All) => void
  ? All
  : never

/** A service with a method for each operation, and no other methods. */
type Exactly<Operations, Methods> = Service<Operations> & {
  readonly [_ in Exclude<keyof Methods, keyof Operations>]: never
}

/** What a product says about itself. */
export interface Product extends Extensions {
  /** The name of the service: in metrics, traces, challenges, and the default file of the database. */
  readonly name: string
  /** The beginning of its access tokens. */
  readonly tokenPrefix: string
  readonly contract: CompiledContract
  /** What it stores. */
  readonly collections: Readonly<Record<string, { readonly schema: string; readonly key: KeyType }>>
  /** Makes the services: a class for each resource. */
  readonly services: (collections: Readonly<Record<string, unknown>>) => readonly object[]
}

/** Names that fit into metrics (https://prometheus.io/docs/concepts/data_model/) and names of tables. */
const NAME = /^[a-z][a-z0-9_]{0,31}$/

/**
 * Defines a product.
 * @param name of the service: lower-case letters, digits and `_`, at most 32. It is in metrics, traces and challenges, and
 *   names the default file of the database
 * @param tokenPrefix the beginning of its access tokens; the name if absent
 * @param contract of `contract.gen.ts`
 * @param collections what it stores: a table for each
 * @param services makes its services from its collections. Together they have a method for each operation, and no other
 * @param guards check the credentials of security schemes, by their names in the contract: `http` `basic` and others that are no
 *   tokens of the service. A guard also takes the place of the service's own for a scheme that it knows
 * @param errorBody writes the bodies of the service's own errors, where the contract's form is not `{ error, message }`
 * @param formats say whether a text is valid, by the name of a `format` that JSON Schema does not have
 * @throws {StartupError} if a name is not valid
 */
export function defineProduct<
  Components,
  Operations,
  Schemes,
  const All extends Definitions<SchemasOf<Components>>,
  Class extends object,
>({
  tokenPrefix,
  ...product
}: {
  readonly name: string
  readonly tokenPrefix?: string
  readonly contract: CompiledContract<Components, Operations, Schemes>
  readonly collections: All
  readonly services: (
    opened: Opened<SchemasOf<Components>, All>,
  ) => readonly Class[] &
    (Together<Class> extends Exactly<Operations, Together<Class>> ? unknown : readonly Exactly<Operations, Class>[])
  readonly guards?: { readonly [Name in Schemes & string]?: ProductGuard }
} & Omit<Extensions, 'guards'>): Product {
  const { name, services } = product
  const prefix = tokenPrefix ?? name
  const wrong = [name, prefix].find((each) => !NAME.test(each))
  if (wrong !== undefined) throw new StartupError(`"${wrong}" must be lower-case letters, digits and _`)
  type Collections = Opened<SchemasOf<Components>, All>
  // app.ts makes one for each definition.
  return { ...product, tokenPrefix: prefix, services: (opened) => services(opened as Collections) }
}
