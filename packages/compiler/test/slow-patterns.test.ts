// The compiler warns of slow patterns, wherever a contract may have them.
import t from 'tap'
import { compile } from '../../../test/support/inner/compiler.ts'
import { contract } from '../../../test/support/contracts/serve-contract.ts'

const QUADRATIC = [
  '^[^@]+@[^@]+\\.[^@]+$',
  '^[^\\s@]+@[^\\s@]+\\.[^\\s@]+$',
  '^\\S+@\\S+$',
  '^\\s+|\\s+$',
  '\\s*$',
  'a+b',
  '(.*),(.*)',
  '^.*x.*$',
  '^\\d*\\.?\\d*$',
  '[a-z]{2,}!',
  '^.+@.+\\..+$',
  '.*foo.*bar',
]
const EXPONENTIAL = [
  '^(\\w+\\s?)*$',
  '(.{1,100}){1,100}x',
  '^([a-z]{1,9}){1,9}!$',
  '^(?:[a-z0-9]{1,63}\\.?){1,10}$',
]
const LINEAR = [
  '^[a-z]+$',
  '^[a-z0-9]+(?:-[a-z0-9]+)*$',
  '^([a-z0-9]+\\.)+[a-z]{2,}$',
  '^[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+\\.[A-Za-z]{2,}$',
  '^\\d{4}-\\d{2}-\\d{2}$',
  '^\\s*\\S+\\s*$',
  '^.*$',
  '\\S',
  '^([a-z0-9-]{1,63}\\.){1,8}[a-z]{2,63}$',
  '^(\\d{1,3}){1,3}$',
  '[a-z]{1,64}$',
  '^(?:[0-9a-f]{1,4}:){1,7}[0-9a-f]{1,4}$',
  '^[\\w-]{1,64}(?: [\\w-]{1,64}){0,15}$',
]
const WARNING =
  /a (long string can keep this pattern busy for seconds|short string can keep this pattern busy for hours)/

/** The schemas of a parameter and of a body, with a pattern in one of them. */
const PLACES: Readonly<Record<string, (pattern: string) => readonly [string, string]>> = {
  pattern: (pattern) => ['{ type: string }', `{ type: string, pattern: ${pattern} }`],
  patternProperties: (pattern) => [
    '{ type: string }',
    `{ type: object, patternProperties: { ${pattern}: { type: integer } } }`,
  ],
  propertyNames: (pattern) => [
    '{ type: string }',
    `{ type: object, propertyNames: { pattern: ${pattern} } }`,
  ],
  'a parameter': (pattern) => [`{ type: string, pattern: ${pattern} }`, '{ type: string }'],
}

for (const [place, schemasOf] of Object.entries(PLACES)) {
  t.test(`a pattern that a long text keeps busy has a warning: ${place}`, async (t) => {
    for (const pattern of [...QUADRATIC, ...EXPONENTIAL])
      t.match(await warningsOf(...schemasOf(`'${pattern}'`)), WARNING, pattern)
    for (const pattern of LINEAR)
      t.notMatch(await warningsOf(...schemasOf(`'${pattern}'`)), WARNING, pattern)
  })

  async function warningsOf(parameter: string, body: string): Promise<string> {
    const yaml = `paths:
  /x:
    post:
      operationId: run
      parameters: [{ in: query, name: q, schema: ${parameter} }]
      requestBody: { content: { application/json: { schema: ${body} } } }
      responses: { '204': { description: Done } }
`
    const folder = t.testdir({ 'openapi.yaml': contract(yaml) })
    const warnings: string[] = []
    await compile(`${folder}/openapi.yaml`, undefined, (line) => warnings.push(line))
    return warnings.join('\n')
  }
}

t.test('a pattern whose text has a maxLength has none', async (t) => {
  const yaml = `paths:
  /x:
    post:
      operationId: run
      requestBody: { content: { application/json: { schema: { type: string, maxLength: 99, pattern: 'a+b' } } } }
      responses: { '204': { description: Done } }
`
  const folder = t.testdir({ 'openapi.yaml': contract(yaml) })
  const warnings: string[] = []
  await compile(`${folder}/openapi.yaml`, undefined, (line) => warnings.push(line))
  t.notMatch(warnings.join('\n'), WARNING)
})
