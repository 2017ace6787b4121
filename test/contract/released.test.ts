import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import { stringify } from 'yaml'
import { parseContract } from '../support/contract.ts'
import { OPENAPI } from '../support/own.ts'
import { fields, isObject } from '../support/schemas.ts'

interface Change {
  readonly path: string
  readonly impact: string
  readonly verdicts: readonly { readonly message: string }[]
}

const RELEASED = 'test/released/openapi.yaml'
const skip = existsSync(RELEASED) ? false : 'nothing was released yet'

t.test(
  'what breaks callers of the released contract has a new major version, and a line',
  { skip },
  async (t) => {
    const [before = '', after = '', changelog = ''] = [
      RELEASED,
      'openapi.yaml',
      'CHANGELOG.md',
    ].map((file) => readFileSync(file, 'utf8'))
    t.strictSame(faults(t, before, after, changelog), [])
  },
)

t.test('each breaking change is named, until the version and the changelog say so', async (t) => {
  const contract = readFileSync(OPENAPI, 'utf8')
  const broken = contract.replace("'409'", "'410'")
  const found = faults(t, contract, broken, '')
  t.match(found, [/Response `409` was removed\./])
  const merged = broken.replace('version: 1.0.0', '<<: { version: 1.0.0 }')
  t.strictSame(faults(t, contract, merged, ''), found, 'a merge key changes nothing')
  const next = broken.replace('version: 1.0.0', 'version: 2.0.0')
  const [unsaid] = faults(t, contract, next, '## 2.0.0\n- Some plants\n## 1.0.0\n- Breaking: none')
  t.match(unsaid, /does not say what breaks/)
  t.strictSame(faults(t, contract, next, '## 2.0.0 (unreleased)\n\n- Breaking: no 409\n'), [])
  const added = contract.replace(
    "'409'",
    "'408': { $ref: '#/components/responses/Error' }\n        '409'",
  )
  t.strictSame(faults(t, contract, added, ''), [], 'an addition breaks nobody')
  const quiet = contract.replace(/^    X-Content-Type-Options:\n(?: {6}.*\n)+/m, '')
  const [removed] = faults(t, contract, quiet, '')
  t.match(removed, 'Response header `X-Content-Type-Options` was removed.', 'of every response')
})

/** What is missing for a contract to be the next release: the breaking changes that it does not admit, in words. */
function faults(t: Test, before: string, after: string, changelog: string): string[] {
  const folder = t.testdir({ 'before.yaml': spelledOut(before), 'after.yaml': spelledOut(after) })
  const words = [
    'diff',
    `${folder}/before.yaml`,
    `${folder}/after.yaml`,
    '--format',
    'json',
    '--fail-on',
    'none',
  ]
  const { stdout } = spawnSync('node_modules/.bin/redocly', words, { encoding: 'utf8' })
  const { changes }: { readonly changes: readonly Change[] } = JSON.parse(stdout)
  const breaking = changes.filter(({ impact }) => impact === 'major')
  const version = versionOf(after)
  if (breaking.length === 0) return []
  if (parseInt(version) <= parseInt(versionOf(before))) {
    return breaking.map(
      ({ path, verdicts }) => `${path}: ${verdicts.map(({ message }) => message).join(' ')}`,
    )
  }
  const entry = changelog.split(/^## /m).find((each) => each.split(/\s/, 1)[0] === version) ?? ''
  return /breaking/i.test(entry)
    ? []
    : [`CHANGELOG.md does not say what breaks in ${version}: "Breaking: ..."`]
}

/** A contract with the headers of `x-every-response` in each response: Redocly does not know what that says. */
function spelledOut(text: string): string {
  const document = fields(parseContract(text))
  const { headers } = fields(document['x-every-response'])
  const operations = Object.values(fields(document['paths'])).flatMap((item) =>
    Object.values(fields(item)),
  )
  for (const each of [document['components'], ...operations]) {
    for (const response of Object.values(fields(fields(each)['responses'])).filter(isObject)) {
      if (!('$ref' in response))
        response['headers'] = { ...fields(headers), ...fields(response['headers']) }
    }
  }
  return stringify(document, { aliasDuplicateObjects: false }) // Redocly does not follow aliases
}

function versionOf(document: string): string {
  return String(fields(fields(parseContract(document))['info'])['version'])
}
