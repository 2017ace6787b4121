// `npm start` on a real terminal, made by `script` of Debian's package bsdutils.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import t from 'tap'
import { eventually } from '../support/processes/eventually.ts'
import { NPM } from '../support/project/copy.ts'

t.test('`npm start` says where data, docs and tokens are, and Ctrl-C ends it', async (t) => {
  const file = `${t.testdir()}/plants.db`
  const words = [
    '--quiet',
    '--return',
    '--command',
    ['exec', ...NPM, 'start'].join(' '),
    '/dev/null',
  ]
  const env = { ...process.env, DATABASE_URL: `sqlite:${file}`, PORT: '0', ADMIN_PORT: '0' }
  const script = spawn('script', words, { env, stdio: ['pipe', 'pipe', 'inherit'] })
  t.teardown(() => script.kill())
  const ended = once(script, 'exit')
  let text = ''
  script.stdout.on('data', (chunk: Buffer) => (text += chunk.toString()))
  await eventually(
    () => / info {2}admin port open port=\d+\r\n/.test(text),
    () => text,
  )
  const [, docs = ''] = / {2}Docs {4}(\S+)/.exec(text) ?? []
  for (const path of ['static/swagger-ui.css', '']) t.equal((await fetch(docs + path)).status, 200)
  script.stdin.write('\x03')
  t.strictSame(await ended, [0, null])
  t.match(text, `  Data    ${file} (plants: 0)\r\n`)
  t.match(text, /^ {2}Docs {4}http:\/\/127\.0\.0\.1:\d+\/docs\/\r$/m)
  t.match(text, `  Token   DATABASE_URL='sqlite:${file}' npm run token -- issue <name>\r\n`)
  t.match(text, /^ {2}curl -H 'Authorization: Bearer plant_/m)
  t.match(text, / info {2}stopped\r\n/)
  t.match(text, ' route=/docs/ status=200 ')
  t.notMatch(text, 'route=/docs/static/', 'the page has a dozen such files')
  t.notMatch(text, /^\{/m, 'no JSON')
})
