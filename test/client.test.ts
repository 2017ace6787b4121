import { copyFileSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import t from 'tap'
import { expectedSession, SAFE } from './support/contracts/client-session.ts'
import { run } from './support/processes/programs.ts'
import { build } from './support/servers/start-product.ts'
import { product } from '../service/product.ts'

const { port, token } = await build(t, {}, product)

const SESSION = 'test/system/release/clients/typescript'

t.test(
  'the clients of the README and of Hey API are generated from /openapi.yaml, compile and work',
  async (t) => {
    const readmeText = readFileSync('packages/compiler/README.md', 'utf8')
    const [section = ''] = /^## Call it from TypeScript$[^]*?(?=^## )/m.exec(readmeText) ?? []
    const [commands = '', code = ''] = [...section.matchAll(/^```\w+\n([^]*?)^```$/gm)].map(
      ([, text = '']) => text.replaceAll(':3000', `:${port}`),
    )
    const [, readme = ''] = /^npx (.*)$/m.exec(commands) ?? []
    const folder = t.testdir({
      'package.json': '{ "type": "module" }',
      'right.ts': `${code}console.log(JSON.stringify(data), error)\n`,
      'wrong.ts': `${code.replace('limit:', 'limits:')}console.log(data, error)\n`,
    })
    for (const file of ['tsconfig.json', 'session.ts'])
      copyFileSync(`${SESSION}/${file}`, `${folder}/${file}`)
    // npm before 11.19 does not link the Node of the packages.
    const PATH = `${dirname(process.execPath)}:${process.cwd()}/node_modules/.bin:${process.env['PATH']}`
    const execute = (words: string, environment = {}) =>
      run(words.split(' '), { PATH, ...environment }, folder)
    const heyApi = `openapi-ts --input http://127.0.0.1:${port}/openapi.yaml --output hey-api --no-log-file`
    for (const command of [readme, heyApi]) t.match(await execute(command), { code: 0 })

    const compiled = await execute('tsc')
    t.match(compiled.stdout.trim(), /^[^\n]*wrong\.ts[^\n]*'limits' does not exist[^\n]*$/)
    const ran = await execute('node built/right.js', { TOKEN: await token('reader') })
    t.strictSame([ran.stdout, ran.stderr], ['[] undefined\n', ''])
    for (const client of ['openapi-fetch', 'hey-api']) {
      const words = `node built/session.js ${client} http://127.0.0.1:${port} ${await token(client)} ${SAFE.join(' ')}`
      const { stdout, stderr } = await execute(words)
      t.strictSame([stdout, stderr], [expectedSession(SAFE), ''], client)
    }
  },
)
