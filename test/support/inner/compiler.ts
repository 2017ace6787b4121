// The steps of the commands of the compiler: a test calls them without a process.
export { compile, inspect } from '../../../packages/compiler/src/compile.ts'
export { dryRun, readDraft } from '../../../packages/compiler/src/commands/draft.ts'
export { generateTypes } from '../../../packages/compiler/src/commands/generate.ts'
