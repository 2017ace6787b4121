// The variables of the environment, for tests of the texts about them.
export { variables } from '../../../packages/engine/src/config.ts'
