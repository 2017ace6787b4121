// Clients in other languages: generated from the served contract as the README says, compiled, and used.
import { strict as assert } from 'node:assert'
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { promisify } from 'node:util'
import t from 'tap'
import { expectedSession, INT64 } from '../../support/contracts/client-session.ts'
import { startService } from '../../support/processes/programs.ts'
import { issueTokenIn } from '../../support/servers/access-tokens.ts'
import { need } from '../programs.ts'

t.setTimeout(1_800_000)

const OPENAPI_GENERATOR = {
  url: 'https://repo.maven.apache.org/maven2/org/openapitools/openapi-generator-cli/7.25.0/openapi-generator-cli-7.25.0.jar',
  sha256: '41ce4f6b07f196676439d710759fa1ced7a08066d06ff1bf314681470289efae',
}
const JAR = `${process.cwd()}/node_modules/.cache/openapi-generator-${OPENAPI_GENERATOR.sha256}.jar`

const JAVA = { java: 'openjdk-17-jdk-headless' }
/**
 * By folder below test/system/release/clients, where session.sh compiles the client and runs the session: the line of the
 * README that generates it, and the programs that it needs, with the Debian package of each.
 */
const CLIENTS: Readonly<
  Record<string, readonly [line: RegExp, needs: Readonly<Record<string, string>>]>
> = {
  python: [/-g python$/, { ...JAVA, python3: 'python3-venv' }],
  java: [/-g java$/, { ...JAVA, mvn: 'maven' }],
  kotlin: [/-g kotlin$/, { ...JAVA, mvn: 'maven' }],
  rust: [/-g rust$/, { ...JAVA, cargo: 'cargo' }],
  go: [/oapi-codegen@/, { go: 'golang' }],
}

const readme = readFileSync('packages/compiler/README.md', 'utf8')
const [, block = ''] =
  /^## Clients in other languages$[^]*?^```sh\n([^]*?)^```$/m.exec(readme) ?? []
const lines = block.trim().split('\n')

t.test('each line of the README is the command for one of the clients', async (t) => {
  const used = Object.values(CLIENTS).flatMap(([line]) => lines.filter((used) => line.test(used)))
  t.strictSame(used.sort(), lines.toSorted())
})

/** The sessions call the operations of plants. */
const skip = !existsSync('service/plant-service.ts') && 'the service has another contract'

for (const [name, [line, needs]] of Object.entries(CLIENTS)) {
  const what = `the client of ${name} is generated, compiles and completes a session`
  t.test(what, { skip }, async (t) => {
    for (const [program, of] of Object.entries(needs)) need(program, of)
    const cwd = t.testdir({})
    const file = `${cwd}/plants.db`
    const token = await issueTokenIn({ file })
    // The contract of the product: some of these generators can't read the tests' contract.
    const { port } = await startService(t, { DATABASE_URL: `sqlite:${file}` }, [
      process.execPath,
      'service/main.ts',
    ])
    cpSync(`test/system/release/clients/${name}`, cwd, { recursive: true })
    const [command = ''] = lines.filter((candidate) => line.test(candidate))
    await execute(
      command
        .replace(':3000', `:${port}`)
        .replace(/^openapi-generator/, `java -jar ${await jar()}`),
      cwd,
    )
    const words = [`http://127.0.0.1:${port}`, token, ...INT64]
    t.equal(await execute(`sh session.sh ${words.join(' ')}`, cwd), expectedSession(INT64))
  })
}

/** Runs a command with the environment of the test, for the caches and settings of these programs. */
async function execute(command: string, cwd: string): Promise<string> {
  const [program = '', ...words] = command.split(' ')
  const { stdout } = await promisify(execFile)(program, words, { cwd, maxBuffer: 2 ** 24 })
  return stdout
}

/** The path of openapi-generator, which is downloaded once. */
async function jar(): Promise<string> {
  if (existsSync(JAR)) return JAR
  const bytes = Buffer.from(await (await fetch(OPENAPI_GENERATOR.url)).arrayBuffer())
  assert.equal(
    createHash('sha256').update(bytes).digest('hex'),
    OPENAPI_GENERATOR.sha256,
    OPENAPI_GENERATOR.url,
  )
  mkdirSync('node_modules/.cache', { recursive: true })
  writeFileSync(JAR, bytes)
  return JAR
}
