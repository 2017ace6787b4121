// The door for stores: the port of a store, its errors, and exact JSON. Internal: it may change in
// any version.
export {
  HttpError,
  NotUnique,
  reasonOf,
  StartupError,
  StoreBusy,
  StoreUnavailable,
} from './errors.ts'
export { removed } from './change.ts'
export { Written } from './written.ts'
export { exactJson, JsonText, parseJson } from './http/json.ts'
export {
  ACCESS_TOKENS,
  type Collection,
  type Collections,
  type IndexedProperty,
  type IndexType,
  type IndexValue,
  type ItemAt,
  type ItemFormat,
  type Key,
  type KeyType,
  MAX_OWNER_BYTES,
  type OpenStore,
  type Page,
  type PageRequest,
  type Settings,
  type Store,
  storedCollections,
  type StoredIndex,
  type StoreEvents,
  type StoreOptions,
  type StoreStats,
  TOKENS_OWNER,
  type Updated,
} from './store.ts'
