// The variables of the environment: the texts are held against them.
export { variables } from '../../../packages/engine/src/config.ts'
