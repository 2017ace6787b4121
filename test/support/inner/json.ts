// JSON as the package testing reads and writes it, with exact integers, for tests of other packages.
export { fields, isObject } from '../../../packages/testing/src/json/fields.ts'
export { brief, parse, stringify } from '../../../packages/testing/src/json/json.ts'
