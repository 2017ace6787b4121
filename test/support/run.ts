// `npm test`: runs the tests of this repository.
import { runTests } from '@plant-store/testing'

/** The files that take longest, by the times of a whole run. Whatever begins late holds up the end. */
const LONG = [
  'store/test/postgres/(network|pool|address|create-tables)',
  'compiler/test/(dev|generate|types|new-service|derived)',
  'engine/test/docs/docs-page',
  'testing/test/(second|service)',
  'test/(pack|released|released-doors)',
]

await runTests({ first: new RegExp(String.raw`(^|/)(${LONG.join('|')})\.test\.ts$`) })
