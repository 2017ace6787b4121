// The door for the compiler: rules shared by compiler and engine. index.ts lacks them, because
// every program loads it.
export { callersFolder, environmentWithout } from './config.ts'
export type {
  Body,
  BodyKind,
  Compiled,
  ErrorFormat,
  Media,
  Operation,
  Parameter,
  Requirement,
  Response,
  ResponseMedia,
  SecurityScheme,
} from './contract/compiled.ts'
export type { ProductHooks } from './contract/product-hooks.ts'
export { faultyIndexes } from './contract/indexes.ts'
export type { ContractExamples, Example, OperationExamples } from './contract/examples.ts'
export {
  type Contract,
  type LoadCompiler,
  type RefusedOperation,
  toContract,
} from './contract/contract.ts'
export {
  BUILT_IN_STATUSES,
  findStatus,
  KNOWN_FORMS,
  statusesOf,
  templateWriter,
  USUAL,
} from './contract/error-forms.ts'
export { type ErrorFacts, fillIn, has, literal, type Template } from './contract/error-templates.ts'
export {
  bodyFault,
  checkOfErrors,
  type DescribedError,
  findMisfit,
  triedErrors,
} from './contract/error-trials.ts'
export { textOfSchema } from './contract/show-schema.ts'
export { isGuarded, lackedFor, supportedAlternatives } from './contract/guarded-schemes.ts'
export { pathOfServer, type Server } from './contract/servers.ts'
export { methodOf } from './operation/routes.ts'
export { MAX_MESSAGE_LENGTH, reasonOf, StartupError } from './errors.ts'
export { shellWord } from './ops/shell.ts'
export { visible } from './ops/terminal.ts'
