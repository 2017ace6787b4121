// `npm run dev` follows changes of the contract and of the code, and reports their faults.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import { build } from '../../../test/support/servers/start-product.ts'
import { program, start } from '../../../test/support/processes/programs.ts'
import { copyProject, NPM, putTestProduct } from '../../../test/support/project/copy.ts'
import { eventually } from '../../../test/support/processes/eventually.ts'
import { freePort } from '../../../test/support/network/ports.ts'

const PARAMETER =
  "{ name: id, in: path, required: true, schema: { $ref: '#/components/schemas/PlantId' } }"
const RESPONSES =
  "{ '200': { description: Written. }, default: { $ref: '#/components/responses/Error' } }"
const OPERATION = `
  /later/{id}: { get: { operationId: writtenLater, parameters: [${PARAMETER}], responses: ${RESPONSES} } }

components:
`

t.test(
  'a changed contract is served, with a 501 where the method is missing, and so is changed code',
  async (t) => {
    const { folder, get, printed, token, until } = await dev(t)
    const databases = ['dev.db', 'plants.db'].map((name) => existsSync(`${folder}/data/${name}`))
    t.strictSame(
      databases,
      [true, false],
      'without DATABASE_URL, development has a database file of its own',
    )
    const file = `${folder}/openapi.yaml`
    writeFileSync(file, readFileSync(file, 'utf8').replace('\ncomponents:\n', OPERATION))
    await until('/openapi.yaml', /writtenLater/)
    const authorized = { Authorization: `Bearer ${token}` }
    await eventually(async () => (await get('/later/7', authorized))[0] === 501)
    t.match(await get('/later/7', authorized), [
      501,
      /a method writtenLater in the class PlantService/,
    ])
    t.match(await get('/later/7'), [401, /token/], 'guarded')
    t.match(await get('/later/7', { ...authorized, Prefer: 'code=200' }), [200, ''], 'an example')
    t.match(await get('/later/x', authorized), [400, /path\/id/], 'validated')
    t.match(await get('/plants', authorized), [200, '[]'], 'the others go on')
    await eventually(() =>
      readFileSync(`${folder}/service/contract.gen.ts`, 'utf8').includes('writtenLater: {'),
    )

    // Editors replace the old file by a new one.
    const code = `${folder}/service/plant-service.ts`
    const text = readFileSync(code, 'utf8')
    rmSync(code)
    writeFileSync(
      code,
      text.replace(/^\}/m, '  async writtenLater() {\n    return { status: 200 }\n  }\n}'),
    )
    await eventually(async () => (await get('/later/7', authorized))[0] === 200)

    // Broken code is reported. Once it is fixed, the service runs again.
    const change = (name: string, from: string | RegExp, to: string) => {
      const file = `${folder}/service/${name}`
      writeFileSync(file, readFileSync(file, 'utf8').replace(from, to))
    }
    change('plant-service.ts', /$/, 'x(\n')
    await eventually(() => /plant-service\.ts:\d+\n[^]*SyntaxError/.test(printed.stderr))
    change('plant-service.ts', /x\(\n$/, '')
    await eventually(async () => (await get('/later/7', authorized))[0] === 200)
  },
)

t.test(
  'a broken contract is reported with file, line and reason, and the last valid one is served',
  async (t) => {
    const { folder, get, printed, until } = await dev(t)
    const file = `${folder}/openapi.yaml`
    const good = readFileSync(file, 'utf8')
    const lineOf = (text: string) => good.slice(0, good.indexOf(text)).split('\n').length
    const report = new RegExp(`openapi\\.yaml:${lineOf('title:')}: Nested mappings`)
    writeFileSync(file, good.replace('title: Plant Store', 'title: Plant: Store'))
    await eventually(() => report.test(printed.stderr))
    await eventually(async () => (await get('/openapi.yaml'))[1] === good) // it may start after the report

    // With a fault in one operation, the others are served.
    const fault = new RegExp(
      `openapi\\.yaml:${lineOf('in: query\n') + 1}: this style is not served`,
    )
    writeFileSync(file, good.replace('in: query\n', 'in: query\n      style: pipeDelimited\n'))
    await until('/plants', fault)
    t.match(await get('/plants'), [501, fault])
    t.match(await get('/plants/x', {}, 'DELETE'), [401, /token/])
    await eventually(() => fault.test(printed.stderr))

    // The contract gets a second file.
    mkdirSync(`${folder}/parts`)
    const more = (summary: string) =>
      `get: { operationId: more, security: [], summary: ${summary}, responses: { '204': { description: Done } } }\n`
    writeFileSync(`${folder}/parts/more.yaml`, more('First'))
    const components = "  /more: { $ref: 'parts/more.yaml' }\n\ncomponents:\n"
    writeFileSync(
      file,
      good.replace('title: Plant Store', 'title: Mended').replace('\ncomponents:\n', components),
    )
    await until('/openapi.yaml', /Mended[^]*First/)
    writeFileSync(`${folder}/parts/more.yaml`, more('Second'))
    await until('/openapi.yaml', /Mended[^]*Second/)
    await eventually(() => /^contract: nothing is left to fix$/m.test(printed.stderr))
    t.equal(printed.stderr.split(fault).length, 2, 'it is said once')

    // The contract becomes another one, without a servable operation.
    writeFileSync(
      file,
      good
        .replace('openapi: 3.1.0', 'openapi: 3.2.0')
        .replace('title: Plant Store', 'title: Other'),
    )
    await eventually(async () => (await get('/openapi.yaml'))[0] === 0)
  },
)

t.test(
  'a violated example, a missing 400 and a type that does not fit are reported, each once',
  async (t) => {
    const { folder, get, printed, until } = await dev(t)
    const file = `${folder}/openapi.yaml`
    const good = readFileSync(file, 'utf8')
    const faults: [from: string, to: string, report: RegExp][] = [
      [
        'value: { name: Aloe vera }',
        'value: { name: 7 }',
        /^ +\d+:\d+ +error .*Example value .* must be string/gm,
      ],
      [
        "        '400': { $ref: '#/components/responses/InvalidQuery' }\n",
        '',
        /^ +\d+:\d+ +error .*declare '400'/gm,
      ],
      ['name: limit', 'name: most', /^service\/plant-service\.ts\(\d+,\d+\): error .*'limit'/gm],
    ]
    const said = () => faults.map(([, , report]) => printed.stderr.match(report)?.length ?? 0)
    const repaired = () =>
      printed.stderr.match(/^(openapi\.yaml|types): nothing is left to fix$/gm) ?? []
    const isReady = async (isSo: () => boolean) => eventually(isSo, () => printed.stderr, 120_000)

    const broken = faults.reduce((text, [from, to]) => text.replace(from, to), good)
    writeFileSync(file, broken)
    await until('/openapi.yaml', /name: most/)
    await isReady(() => !said().includes(0))
    t.match((await get('/openapi.yaml'))[1], 'name: most', 'it is served nevertheless')
    // The service starts again. New problems of the linter are printed before those of tsc, and known ones not again.
    const code = `${folder}/service/plant-service.ts`
    const text = readFileSync(code, 'utf8')
    writeFileSync(code, `${text}\nexport const wrong: number = 'text'\n`)
    await isReady(() => said()[2] === 2)
    t.strictSame(said(), [1, 1, 2], printed.stderr)
    writeFileSync(code, text)
    writeFileSync(file, good)
    await isReady(() => repaired().length === 2)
    t.strictSame(said(), [1, 1, 2], printed.stderr)
  },
)

t.test('a port that is in use is reported in one line', async (t) => {
  const { port } = await build(t)
  const environment = { PORT: String(port), DATABASE_URL: `sqlite:${t.testdir()}/other.db` }
  const { printed } = await start(t, program('dev'), environment)
  await eventually(() =>
    /"msg":"HOST 127\.0\.0\.1, PORT \d+: .*EADDRINUSE.*"\}\n/.test(printed.stdout),
  )
  t.equal(printed.stderr, '')
})

/** Runs `npm run dev` in a copy of the project. */
async function dev(t: Test) {
  const folder = copyProject(t)
  putTestProduct(folder)
  const port = await freePort()
  const { child, ended, printed } = await start(
    t,
    [...NPM, 'run', 'dev'],
    { PORT: String(port) },
    { cwd: folder },
  )
  t.teardown(() => {
    child.kill()
    return ended
  })
  const get = async (
    path: string,
    headers = {},
    method = 'GET',
  ): Promise<[status: number, text: string]> => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers, method }).catch(
      () => undefined,
    )
    return [response?.status ?? 0, (await response?.text()) ?? '']
  }
  const until = (path: string, pattern: RegExp) =>
    eventually(async () => pattern.test((await get(path))[1]))
  await until('/openapi.yaml', /openapi: 3/)
  await eventually(() => /plant_\w+/.test(printed.stderr))
  const [token] = /plant_\w+/.exec(printed.stderr) ?? []
  return { folder, printed, token, get, until }
}
