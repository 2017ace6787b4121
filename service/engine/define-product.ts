import type { components, Service } from './contract/contract.ts'
import type { Collection, KeyType } from './store/store.ts'

type Schemas = components['schemas']

/** Collections by name: the schema of the items, of `components/schemas` in the contract, and the type of their keys. */
type Definitions = Readonly<Record<string, { readonly schema: keyof Schemas; readonly key: KeyType }>>

/** The collections that the services get, by name. */
type Opened<All extends Definitions> = {
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
type Exactly<Methods> = Service & { readonly [_ in Exclude<keyof Methods, keyof Service>]: never }

/** What makes a product, beside its contract. */
export interface Product {
  readonly collections: Definitions
  /** Makes the services: a class for each resource. */
  readonly services: (collections: Readonly<Record<string, unknown>>) => readonly object[]
}

/**
 * Defines a product.
 * @param collections what it stores: a table for each
 * @param services makes its services from its collections. Together they have a method for each operation, and no other
 */
export function defineProduct<const All extends Definitions, Class extends object>({
  collections,
  services,
}: {
  readonly collections: All
  readonly services: (
    opened: Opened<All>,
  ) => readonly Class[] & (Together<Class> extends Exactly<Together<Class>> ? unknown : readonly Exactly<Class>[])
}): Product {
  return { collections, services: (opened) => services(opened as Opened<All>) } // app.ts makes one for each definition
}
