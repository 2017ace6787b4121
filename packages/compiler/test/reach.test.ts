// The author of a document can't publish a file of the reading machine, or make it fetch a URL.
import { existsSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { resolve } from 'node:path'
import t, { type Test } from 'tap'
import { inspect } from '../../../test/support/inner/compiler.ts'
import { toLines } from '../src/read/diagnostic-lines.ts'
import { readContract } from '../../../test/support/inner/contract.ts'
import { loadCompiler } from '../src/index.ts'
import { run, start } from '../../../test/support/processes/programs.ts'
import { eventually } from '../../../test/support/processes/eventually.ts'
import { serveHttp } from '../../../test/support/network/ports.ts'
import { FOR_REGISTRY } from '../../../test/support/project/copy.ts'
import { contract } from '../../../test/support/contracts/serve-contract.ts'

const SECRET = 'correct horse'

/** A folder with a secret, and in it the folder of the contract, with links to the outside. */
function writeFiles(t: Test, main: string, part = ''): string {
  const folder = t.testdir({
    'secret.yaml': `type: string\ndescription: ${SECRET}\n`,
    secret: SECRET,
    contract: {
      'openapi.yaml': main,
      '.env': SECRET,
      '.hidden': { 'secret.yaml': `description: ${SECRET}` },
      sub: {},
      deep: { 'a.yaml': part },
    },
  })
  symlinkSync('../secret.yaml', `${folder}/contract/link.yaml`)
  symlinkSync('../..', `${folder}/contract/sub/up`)
  symlinkSync('../secret', `${folder}/contract/link`)
  return folder
}

/** Contracts, each with a reference in another place. Only the first place is served. */
const PLACES: Readonly<Record<string, (ref: string) => string>> = {
  'a schema': (ref) => operation(`schema: { $ref: '${ref}' }`),
  'a member': (ref) => operation(`schema: { properties: { a: { $ref: '${ref}' } } }`),
  'a description': (ref) => operation(`schema: { description: { $ref: '${ref}' } }`),
  'the description of the document': (ref) =>
    operation('schema: {}').replace('1.0.0', `1.0.0, description: { $ref: '${ref}' }`),
  'an example of a schema': (ref) => operation(`schema: { example: { $ref: '${ref}' } }`),
  'a default': (ref) => operation(`schema: { default: { $ref: '${ref}' } }`),
  'an example': (ref) => operation(`schema: {}, example: { $ref: '${ref}' }`),
  'an example by name': (ref) => operation(`schema: {}, examples: { a: { $ref: '${ref}' } }`),
  'the value of an example': (ref) =>
    operation(`schema: {}, examples: { a: { value: { $ref: '${ref}' } } }`),
  'an external value': (ref) =>
    operation(`schema: {}, examples: { a: { externalValue: '${ref}' } }`),
  'a discriminator': (ref) =>
    operation(
      `schema: { type: object, discriminator: { propertyName: a, mapping: { b: '${ref}' } } }`,
    ),
  'a link': (ref) => operation('schema: {}', `, links: { a: { operationRef: '${ref}' } }`),
  'a link by reference': (ref) => operation('schema: {}', `, links: { a: { $ref: '${ref}' } }`),
  'a header': (ref) => operation('schema: {}', `, headers: { A: { $ref: '${ref}' } }`),
  'a path': (ref) => `${operation('schema: {}')}  /y: { $ref: '${ref}' }\n`,
  'an unused schema': (ref) =>
    `${operation('schema: {}')}components: { schemas: { A: { $ref: '${ref}' } } }\n`,
  'an unused discriminator': (ref) =>
    `${operation('schema: {}')}components: { schemas: { A: { type: object, discriminator: { propertyName: a, mapping: { b: '${ref}' } } } } }\n`,
  'an unused example': (ref) =>
    `${operation('schema: {}')}components: { examples: { A: { externalValue: '${ref}' }, B: { $ref: '${ref}' } } }\n`,
  'an extension': (ref) => `${operation('schema: {}')}x-a: [{ b: { $ref: '${ref}' } }]\n`,
}

/** The places of values and of links for people: a `$ref` there is no reference to a file. */
const VALUES = /^(an example of a schema|a default|an example|the value of an example)$/

function operation(media: string, more = ''): string {
  return contract(
    `paths:\n  /x: { get: { operationId: run, responses: { '200': { description: Done, content: { application/json: { ${media} } }${more} } } } }\n`,
  )
}

/** References of a malicious author to the secret, from the folder of the contract. */
const spelled = (folder: string) => [
  '../secret.yaml',
  '../secret',
  `${folder}/secret.yaml`,
  'link.yaml',
  '../secret.yaml#/description',
  './sub/../../secret.yaml',
  '..%2Fsecret.yaml',
  '%2e%2e/secret.yaml',
  '%2E%2E%2Fsecret',
  `/.${folder}/secret`,
  encodeURIComponent(`${folder}/secret.yaml`),
  `file://${folder}/secret.yaml`,
  `//${folder}/secret.yaml`,
  'link',
  'sub/up/secret.yaml',
  'sub/up/contract/../secret.yaml',
  '.env',
  '.hidden/secret.yaml',
]

for (const [place, write] of Object.entries(PLACES)) {
  t.test(`${place} publishes no file of another folder`, async (t) => {
    const refs = spelled(resolve(t.testdirName))
    for (const ref of place === 'a description' ? refs : refs.slice(0, 4)) {
      const file = `${writeFiles(t, write(ref))}/contract/openapi.yaml`
      const { compiled, errors, warnings } = await inspect(file)
      const told = [...toLines(errors), ...toLines(warnings)].join('\n')
      const published = compiled?.bundle ?? readFileSync(file, 'utf8')
      t.notMatch(published + JSON.stringify(compiled?.schemas) + told, SECRET, ref)
      if (!VALUES.test(place)) t.match(told, /read/, `${ref} in ${place}`)
    }
  })
}

t.test('neither does a file that the contract refers to', async (t) => {
  const refs = ['../secret.yaml', '../link.yaml', '../sub/up/secret.yaml', '../../secret']
  const main = operation("schema: { $ref: 'deep/a.yaml' }")
  const items = refs.map((ref) => `{ $ref: '${ref}' }`).join()
  const folder = writeFiles(t, main, `{ anyOf: [${items}], example: { $ref: '../link' } }`)
  const { compiled, errors } = await inspect(`${folder}/contract/openapi.yaml`)
  t.match(compiled?.bundle, 'anyOf')
  t.notMatch(compiled?.bundle, SECRET)
  const told = toLines(errors).join('\n')
  t.equal(told.match(/only files in \S+ are read: copy it there/g)?.length, 3, told)
  t.match(told, /ENOENT/, 'a file that is missing')
})

t.test('a wider folder is named by the product, or by an option', async (t) => {
  const folder = writeFiles(t, operation("schema: { $ref: '../secret.yaml' }"))
  const file = `${folder}/contract/openapi.yaml`
  const options = { product: { refsWithin: '..' }, loadCompiler }
  const { bytes } = await readContract(file, options)
  t.match(String(bytes), SECRET)
  const dryRun = [process.execPath, 'test/support/product/generate.ts', '--dry-run', file]
  t.match((await run(dryRun, {})).stdout, /refused: .*only files in .* are read.*refsWithin/)
  t.match((await run([...dryRun, '--refs-within', folder], {})).stdout, /\b1 of 1 operations/)
})

/** Starts a server on this machine. @returns its URL, and the requested paths */
async function listen(t: Test) {
  const asked: string[] = []
  const url = await serveHttp(t, ({ url: path = '' }, answer) => {
    asked.push(path)
    answer.setHeader('content-type', 'application/yaml').end('type: string\n')
  })
  return { url, asked }
}

t.test('no URL is asked, wherever it stands', async (t) => {
  const { url, asked } = await listen(t)
  for (const [place, write] of Object.entries(PLACES)) {
    for (const ref of [`${url}/a.yaml`, `${url.slice('http:'.length)}/b.yaml#/c`]) {
      const file = `${writeFiles(t, write(ref))}/contract/openapi.yaml`
      const { errors, warnings } = await inspect(file)
      const told = [...toLines(errors), ...toLines(warnings)].join('\n')
      if (!VALUES.test(place)) t.match(told, /read/, `${ref} in ${place}`)
    }
  }
  t.strictSame(asked, [])
})

/** A valid document, with a URL in each place without effect on the service. */
const withUrls = (url: string) =>
  `${operation(
    `schema: { type: object, example: { $ref: '${url}/1' }, discriminator: { propertyName: a, mapping: { b: '${url}/2' } } }, examples: { a: { externalValue: '${url}/3' }, b: { $ref: '${url}/4' } }`,
    `, links: { a: { operationRef: '${url}/5' }, b: { $ref: '${url}/6' } }`,
  )}components:
  schemas: { A: { $ref: '${url}/7' }, B: { discriminator: { propertyName: a, mapping: { b: '${url}/8' } } } }
  examples: { A: { externalValue: '${url}/9' } }
  responses: { A: { $ref: '${url}/10' } }
x-a: { $ref: '${url}/11' }
x-b: { $ref: ../secret.yaml }
`

const skip = !existsSync('service/new.ts') && 'this service was made by the command'

t.test('nor by the commands, whose linter reads no other file', { skip }, async (t) => {
  const { url, asked } = await listen(t)
  const folder = writeFiles(t, withUrls(url))
  const created = `${folder}/created`
  const node = (words: string[], cwd = '.') => run([process.execPath, ...words], FOR_REGISTRY, cwd)
  const { code, stderr } = await node([
    'service/new.ts',
    created,
    `${folder}/contract/openapi.yaml`,
  ])
  t.equal(code, 0, stderr)
  symlinkSync(resolve('node_modules'), `${created}/node_modules`)
  for (const words of [
    ['service/generate.ts', '--check'],
    ['service/lint.ts', 'openapi.yaml'],
  ]) {
    const checked = await node(words, created)
    t.equal(checked.code, 0, `${words.join(' ')}: ${checked.stdout}${checked.stderr}`)
  }
  rmSync(`${created}/.redocly.lint-ignore.yaml`)
  const { stdout } = await node(['service/lint.ts', 'openapi.yaml'], created)
  t.match(stdout, /Access to this API has been restricted/, 'a file of another folder is not read')

  const dev = await start(t, [process.execPath, 'service/dev.ts'], { PORT: '0' }, { cwd: created })
  const isLinted = () => dev.printed.stderr.includes('no-unresolved-refs')
  await eventually(isLinted, () => dev.printed.stderr)
  t.strictSame(asked, [])
})
