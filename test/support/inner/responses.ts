// Responses as bytes, as the package testing reads them.
export { exchange, readResponses } from '../../../packages/testing/src/http/responses.ts'
