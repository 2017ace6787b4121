// Tests each line of packages/compiler/SERVED.md: how a construct of OpenAPI 3.1 is served, and its diagnostic.
import t, { type Test } from 'tap'
import { compile, inspect } from '../../../test/support/inner/compiler.ts'
import { boot, contract, type Served } from '../../../test/support/contracts/serve-contract.ts'
import { toLine } from '../src/read/diagnostic-lines.ts'
import { CONSTRUCTS, TABLE } from './constructs/all.ts'

t.test('the table has a line for each construct that is tested, and no other', async (t) => {
  t.strictSame(TABLE.map(([name]) => name).sort(), Object.keys(CONSTRUCTS).sort())
})

for (const [name, how, told] of TABLE) {
  t.test(`${how}: ${name}`, async (t) => {
    const construct = CONSTRUCTS[name] ?? ''
    const { asks = [], ...served } = typeof construct === 'string' ? { yaml: construct } : construct
    t.equal(asks.length === 0, how === 'refused', 'only what is served is asked')
    t.equal(
      told === '',
      how === 'served',
      'its author is told more only of what is not served as it stands',
    )
    if (told !== '') await isTold(t, served, how === 'refused', told)
    if (how !== 'refused') await isServed(t, { ...served, asks })
  })
}

/** Checks the diagnostic for the author of a contract: an error with its line, or a warning. */
async function isTold(
  t: Test,
  { yaml, files = {}, product }: Served,
  isRefused: boolean,
  told: string,
): Promise<void> {
  const sources = { 'openapi.yaml': contract(yaml), ...files }
  const folder = t.testdir(sources)
  const file = `${folder}/openapi.yaml`
  const lines = isRefused
    ? (await compile(file, product).then(() => '', String)).split('\n')
    : (await inspect(file, product ?? {})).warnings.map(toLine)
  const reported = lines.find((candidate) => candidate.includes(told))
  t.ok(reported, told, { lines })
  if (!isRefused) return
  for (const [file, text] of Object.entries(sources)) {
    const line = text.split('\n').findIndex((row) => row.endsWith('# here')) + 1
    if (line > 0) t.match(reported, `${file}:${line}: `)
  }
}

async function isServed(t: Test, construct: Served): Promise<void> {
  const app = await boot(t, construct)
  for (const [request, status, text, type] of construct.asks ?? []) {
    const answer = await app.inject(request)
    const what = JSON.stringify(request)
    t.equal(answer.statusCode, status, `${what}: ${answer.body}`)
    if (typeof text === 'string') t.equal(answer.body, text, what)
    if (text instanceof RegExp) t.match(answer.body, text, what)
    if (type !== undefined) t.equal(answer.headers['content-type'], type, what)
  }
}
