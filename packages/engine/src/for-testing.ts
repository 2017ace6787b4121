// The door for tests of services: an app of any product, without a process, and its access tokens.
// Internal: it may change in any version.
export { buildApp } from './app.ts'
export { accessTokens, createToken, idOf } from './auth/access-tokens.ts'
export { reasonOf } from './errors.ts'
export { openResources } from './programs/opened.ts'
export { type Store, storedCollections } from './store.ts'
