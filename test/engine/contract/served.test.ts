// Holds the table of service/engine/contract/README.md: what of OpenAPI 3.1 is served, and what is refused.
import { readFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import { compile } from '../../../service/engine/contract/compile/compile.ts'
import { boot, contract, type Refused, type Served } from '../../support/small.ts'
import { BODIES } from './constructs/bodies.ts'
import { DOCUMENTS } from './constructs/documents.ts'
import { PARAMETERS } from './constructs/parameters.ts'
import { RESPONSES } from './constructs/responses.ts'
import { SCHEMAS } from './constructs/schemas.ts'

const CONSTRUCTS = { ...DOCUMENTS, ...PARAMETERS, ...BODIES, ...RESPONSES, ...SCHEMAS }
const rows = [
  ...readFileSync('service/engine/contract/README.md', 'utf8').matchAll(
    /^\| (.+?) \| (served|served with a note|refused) \|(?: (.+))? \|$/gm,
  ),
]
const table = rows.map(([, name, how, details]) => [name, [how, details]])

t.test('the table has a line for each construct that is tested, and no other', async (t) => {
  const tested = Object.entries(CONSTRUCTS).map(([name, each]) => [name, howOf(each)])
  t.strictSame(Object.fromEntries(table), Object.fromEntries(tested))
})

/** How a construct is served, and what its author is told. */
function howOf(construct: Served | Refused): readonly [how: string, details: string | undefined] {
  if ('says' in construct) return ['refused', construct.says]
  return [construct.note === undefined ? 'served' : 'served with a note', construct.note]
}

for (const [name, construct] of Object.entries(CONSTRUCTS)) {
  t.test(`${'says' in construct ? 'refused' : 'served'}: ${name}`, (t) =>
    'says' in construct ? isRefused(t, construct) : isServed(t, construct),
  )
}

async function isServed(t: Test, construct: Served): Promise<void> {
  const { yaml, files = {}, note } = construct
  const notes: string[] = []
  if (note !== undefined) {
    const folder = t.testdir({ 'openapi.yaml': contract(yaml), ...files })
    await compile(`${folder}/openapi.yaml`, construct.product, (line) => notes.push(line))
    t.ok(
      notes.some((each) => each.includes(note)),
      note,
      { notes },
    )
  }
  const app = await boot(t, construct)
  for (const [request, status, text] of construct.asks) {
    const answer = await app.inject(request)
    const what = JSON.stringify(request)
    t.equal(answer.statusCode, status, `${what}: ${answer.body}`)
    if (typeof text === 'string') t.equal(answer.body, text, what)
    if (text instanceof RegExp) t.match(answer.body, text, what)
  }
}

async function isRefused(t: Test, { yaml, says, files = {}, product }: Refused): Promise<void> {
  const folder = t.testdir({ 'openapi.yaml': contract(yaml), ...files })
  const [[file, line]] = Object.entries({ 'openapi.yaml': contract(yaml), ...files }).flatMap(([file, text]) => {
    const index = text.split('\n').findIndex((each) => each.endsWith('# here'))
    return index === -1 ? [] : [[file, index + 1] as const]
  }) as [[string, number]]
  const error: unknown = await compile(`${folder}/openapi.yaml`, product).catch((error: unknown) => error)
  const faults = error instanceof Error ? error.message.split('\n') : ['it is served']
  const found = faults.find((each) => each.includes(says))
  t.match(found, new RegExp(`${file.replace('.', '\\.')}:${line}: `), { faults, says })
}
