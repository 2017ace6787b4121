// `npm test`: runs the tests of this repository.
import { runTests } from '@plant-store/testing'

/** These take longest. */
const LONG =
  /\/(postgres\/(network|pool)|compiler\/test\/(dev|generate|types)|docs\/docs-page|testing\/test\/second)\.test\.ts$/

await runTests({ first: LONG })
