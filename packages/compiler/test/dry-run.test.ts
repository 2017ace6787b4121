// The dry run is for a person: one line for each kind of warning, and the answer in the last line.
import t, { type Test } from 'tap'
import { compile, dryRun } from '../../../test/support/inner/compiler.ts'
import { contract } from '../../../test/support/contracts/serve-contract.ts'
import { isNear } from '../src/read/spelling.ts'

const DONE = "responses: { '204': { description: Done } }"

function fileOf(t: Test, text: string, files: Readonly<Record<string, string>> = {}): string {
  return `${t.testdir({ 'openapi.yaml': contract(text), ...files })}/openapi.yaml`
}

/** The lines of warnings, from their sentences on. */
async function warningsOf(file: string): Promise<string[]> {
  const lines = await dryRun(file)
  return lines.flatMap((line) => /^warning: \S+: (.*)$/.exec(line)?.[1] ?? [])
}

t.test('warnings of one kind are one line, with a count and three names', async (t) => {
  const header = (name: string) => `headers: { ${name}: {} }`
  const get = (path: string, name: string) =>
    `  /${path}: { get: { responses: { '204': { description: Done, ${header(name)} } } } }\n`
  const paths = ['a', 'b', 'c', 'd'].map((path) => get(path, `X-${path}`)).join('')
  const media = "content: { 'application/json': {}, 'application/xml': {}, 'text/xml': {} }"
  const body = `  /e: { post: { operationId: e, requestBody: { ${media} }, responses: { default: { description: x } } } }\n`
  const undescribed = "responses: { '400': { description: No } }"
  const bodiless = ['f', 'g'].map(
    (id) => `  /${id}: { get: { operationId: ${id}, ${undescribed} } }\n`,
  )
  const file = fileOf(t, `paths:\n${paths}${body}${bodiless.join('')}`)
  const told = [
    'without operationId, the method is called getA (4 times, also getB, getC, …)',
    'the header X-a has no "schema": it is a string (4 times, also X-b, X-c, …)',
    'application/xml is left out: the media type application/xml is not served: write application/json (2 times, also text/xml)',
    'the service writes this error with a body, which says why: describe it in "content" (3 times: POST /e, GET /f, GET /g)',
  ]
  const sentences = await warningsOf(file)
  for (const line of told) t.ok(sentences.includes(line), line, { sentences })
  const generated: string[] = []
  await compile(file, {}, (line) => generated.push(line))
  t.match(generated, [
    /^warning: .*openapi.yaml:4: without operationId, .*getA \(4 times, also getB, /,
  ])
})

t.test('what the service adds is no warning about an operation', async (t) => {
  const operations = `  /a: { get: { parameters: [{ name: a, in: query, schema: { type: string } }], ${DONE} } }
  /b: { get: { operationId: b, parameters: [{ name: b, in: query, schema: { type: string, format: b } }], ${DONE} } }
`
  const text = `openapi: 3.0.3\ninfo: { title: Small, version: 1.0.0 }\npaths:\n${operations}`
  const lines = await dryRun(fileOf(t, text))
  t.match(lines, ['GET /a: served', 'GET /b: served with a warning'])
  t.equal(lines[0], 'GET /a: served', 'neither OpenAPI 3.0, nor its name, nor 400')
  t.equal(lines.at(-1), '2 of 2 operations are served')
})

t.test('an answer without an example is one warning, if none can be made', async (t) => {
  const get = (id: string, schema: string) =>
    `  /${id}: { get: { operationId: ${id}, responses: { '200': { description: Done, content: { application/json: { schema: ${schema} } } } } } }\n`
  const never = '{ type: string, minLength: 2, maxLength: 1 }'
  const paths = [get('a', never), get('b', '{ type: string }'), get('c', never)]
  const lines = await dryRun(fileOf(t, `paths:\n${paths.join('')}`))
  const told = lines.filter((line) => line.includes('no example'))
  t.equal(told.length, 1)
  t.match(
    told[0],
    /openapi.yaml:4: no example of this answer .*: give an "example" \(2 times: GET \/a, GET \/c\)$/,
  )
})

t.test('the last line has the answer, and what to write for the rest', async (t) => {
  const bad = `  /bad: { get: { operationId: bad, parameters: [{ name: a, in: query, style: spaceDelimited, schema: {} }], ${DONE} } }\n`
  const good = `  /good: { get: { operationId: good, ${DONE} } }\n`
  const partial = await dryRun(fileOf(t, `paths:\n${good}${bad}`))
  t.equal(
    partial.at(-1),
    "1 of 2 operations are served: for the rest, mend what is refused above; until then write into product.ts: without: ['bad'],",
  )
  const none = await dryRun(fileOf(t, `paths:\n${bad}`))
  t.equal(
    none.at(-1),
    '0 of 1 operations are served: for the rest, mend what is refused above',
    'no line would help',
  )
})

t.test('no line has an absolute path', async (t) => {
  const reference = (file: string) => `{ get: { $ref: '${file}' } }`
  const paths = `  /a: ${reference('none.yaml')}\n  /b: ${reference('folder.yaml')}\n`
  const file = fileOf(t, `paths:\n${paths}`, {})
  const lines = await dryRun(file)
  t.match(lines.join('\n'), /Can't resolve \$ref: ENOENT: there is no file \S+\/none\.yaml$/m)
  const folder = file.slice(0, file.lastIndexOf('/'))
  const absent = await dryRun(`${folder}/absent.yaml`).then(() => '', String)
  t.match(absent, /: ENOENT: there is no file \S+\/absent\.yaml$/)
  t.match(await dryRun(folder).then(() => '', String), /: EISDIR: /)
  t.notMatch([...lines, absent].join('\n'), folder)
})

t.test('a name is proposed only if at most two letters differ', async (t) => {
  for (const name of ['operationID', 'operation_id', 'operatonIds', 'perationId'])
    t.ok(isNear(name, 'operationId'), name)
  for (const name of ['operationName', 'Operation_iD', '', 'x'])
    t.notOk(isNear(name, 'operationId'), name)
  t.ok(isNear('', 'a'))
  const told = async (field: string) =>
    (
      await dryRun(fileOf(t, `paths: { /x: { get: { operationId: x, ${field}, ${DONE} } } }\n`))
    ).join('\n')
  t.match(await told('sumary: a'), /`sumary` is not expected here\. Did you mean summary\?/)
  t.notMatch(await told('samurai: a'), 'Did you mean')
  t.match(
    await told('parameters: [{ name: a, in: qeury, schema: {} }]'),
    /Did you mean query\?/,
    'a value, too',
  )
  t.notMatch(await told('parameters: [{ name: a, in: body, schema: {} }]'), 'Did you mean')
  const scheme = 'components: { securitySchemes: { bearer: { type: http, scheme: bearer } } }'
  const secured = (name: string) =>
    fileOf(
      t,
      `paths: { /x: { get: { operationId: x, security: [{ ${name}: [] }], ${DONE} } } }\n${scheme}\n`,
    )
  t.match((await dryRun(secured('bearr'))).join('\n'), 'Did you mean bearer?')
  t.match(
    (await dryRun(secured('JWT'))).join('\n'),
    'JWT is not in components/securitySchemes, which has bearer',
  )
})
