import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import t, { type Test } from 'tap'
import { stringify } from 'yaml'
import { follow, readDocument } from './support/inner/documented.ts'
import { OPENAPI } from './support/contracts/product-contract.ts'
import { fields, isObject } from './support/inner/json.ts'
import { contract } from './support/contracts/serve-contract.ts'

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
    const changelog = readFileSync('CHANGELOG.md', 'utf8')
    t.strictSame(await faults(t, RELEASED, 'openapi.yaml', changelog), [])
  },
)

t.test('each breaking change is named, until the version and the changelog say so', async (t) => {
  const text = readFileSync(OPENAPI, 'utf8')
  /** What is missing for a changed contract. */
  const faultsOf = async (changed: string, changelog = '') => {
    const file = `${t.testdir({ 'openapi.yaml': changed })}/openapi.yaml`
    return faults(t, OPENAPI, file, changelog)
  }
  const broken = text.replace("'409'", "'410'")
  const reported = await faultsOf(broken)
  t.match(reported, [/Response `409` was removed\./])
  const merged = broken.replace('version: 1.0.0', '<<: { version: 1.0.0 }')
  t.strictSame(await faultsOf(merged), reported, 'a merge key changes nothing')
  const next = broken.replace('version: 1.0.0', 'version: 2.0.0')
  const [unsaid] = await faultsOf(next, '## 2.0.0\n- Some plants\n## 1.0.0\n- Breaking: none')
  t.match(unsaid, /does not say what breaks/)
  t.strictSame(await faultsOf(next, '## 2.0.0 (unreleased)\n\n- Breaking: no 409\n'), [])
  const added = text.replace(
    "'409'",
    "'408': { $ref: '#/components/responses/Error' }\n        '409'",
  )
  t.strictSame(await faultsOf(added), [], 'an addition breaks nobody')
  const quiet = text.replace(/^    X-Content-Type-Options:\n(?: {6}.*\n)+/m, '')
  const [removed] = await faultsOf(quiet)
  t.match(removed, 'Response header `X-Content-Type-Options` was removed.', 'of every response')
})

t.test('what breaks in another file of a contract is named, too', async (t) => {
  const yaml =
    "paths: { /x: { get: { operationId: x, parameters: [{ $ref: 'parts.yaml#/limit' }] } } }"
  const parts = 'limit: { name: limit, in: query, schema: { type: integer } }'
  const files = { 'openapi.yaml': contract(yaml), 'parts.yaml': parts }
  const folder = t.testdir({
    before: files,
    after: { ...files, 'parts.yaml': parts.replace('in: query', 'in: query, required: true') },
  })
  const [before, after] = [`${folder}/before/openapi.yaml`, `${folder}/after/openapi.yaml`]
  t.strictSame(await faults(t, before, before, ''), [])
  t.match(await faults(t, before, after, ''), [/required/])
})

/** What is missing for a contract to be the next release: the breaking changes that it does not admit, in words. */
async function faults(
  t: Test,
  before: string,
  after: string,
  changelog: string,
): Promise<string[]> {
  const [old, next] = [await spelledOut(before), await spelledOut(after)]
  const folder = mkdtempSync(`${tmpdir()}/released-`)
  t.teardown(() => rmSync(folder, { recursive: true }))
  const files = [`${folder}/before.yaml`, `${folder}/after.yaml`] as const
  // Redocly does not follow aliases.
  for (const [index, document] of [old, next].entries())
    writeFileSync(files[index] ?? '', stringify(document, { aliasDuplicateObjects: false }))
  const words = ['diff', ...files, '--format', 'json', '--fail-on', 'none']
  const { stdout } = spawnSync('node_modules/.bin/redocly', words, { encoding: 'utf8' })
  const { changes }: { readonly changes: readonly Change[] } = JSON.parse(stdout)
  const breaking = changes.filter(({ impact }) => impact === 'major')
  if (breaking.length === 0) return []
  const version = versionOf(next)
  if (parseInt(version) <= parseInt(versionOf(old))) {
    return breaking.map(
      ({ path, verdicts }) => `${path}: ${verdicts.map(({ message }) => message).join(' ')}`,
    )
  }
  const entry =
    changelog.split(/^## /m).find((section) => section.split(/\s/, 1)[0] === version) ?? ''
  return /breaking/i.test(entry)
    ? []
    : [`CHANGELOG.md does not say what breaks in ${version}: "Breaking: ..."`]
}

/** A contract with the headers of `x-every-response` in each response: Redocly does not know what that says. */
async function spelledOut(file: string): Promise<Record<string, unknown>> {
  const document = await readDocument(file)
  const { headers } = follow(document, document['x-every-response'])
  const operations = Object.values(fields(document['paths'])).flatMap((item) =>
    Object.values(fields(item)),
  )
  for (const part of [document['components'], ...operations]) {
    for (const response of Object.values(fields(fields(part)['responses'])).filter(isObject)) {
      if (!('$ref' in response))
        response['headers'] = { ...fields(headers), ...fields(response['headers']) }
    }
  }
  return document
}

const versionOf = ({ info }: Record<string, unknown>) => String(fields(info)['version'])
