// The door for the package testing: the generator of values. Internal: it may change in any version.
export { isNever, ownSchemas } from './samples/property-schemas.ts'
export { Samples } from './samples/samples.ts'
export { decimalOf, fits, RANGES } from './samples/schema.ts'
