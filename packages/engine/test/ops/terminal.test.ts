// Lines for a person at a terminal: no stranger's text moves the cursor, changes the order of
// characters or adds a line.
import { DatabaseSync } from 'node:sqlite'
import t from 'tap'
import { visible } from '@plant-store/engine/for-compiler'
import { program, run, startService } from '../../../../test/support/processes/programs.ts'
import { openTestStore } from '../../../../test/support/stores/open-store.ts'
import { issueToken } from '../../../../test/support/servers/access-tokens.ts'

/** One character of each kind, and its escape. */
const INVISIBLE = '\u0000\u0007\b\t\n\r\u001b\u007f\u0085\u009b\u00ad\u061c\u200b\u200e\u200f'
const ORDER = '\u2028\u2029\u202a\u202e\u2066\u2069\udfff\ufeff\u{e0001}\ud800'
const BLANK = '\u00a0\u034f\u115f\u2000\u3000\u3164\uffa0'
const HOSTILE = `\u001b]0;owned\u0007\u001b[2J\u202egnp.exe\u2066\u2028\u009b1A\u007f`
const RAW = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/

t.test('invisible characters are shown as escapes, and all others as they are', async (t) => {
  for (const character of INVISIBLE + ORDER + BLANK) {
    const digits = (character.codePointAt(0) ?? 0).toString(16)
    const shown = digits.length > 4 ? `\\u{${digits}}` : `\\u${digits.padStart(4, '0')}`
    t.equal(visible(`a${character}b`), `a${shown}b`)
  }
  const plain = 'a Z 0 ~ é 植 ü \u{1f33b} \ufe0f \\u001b'
  t.equal(visible(plain), plain)
})

t.test('commands show what is in a store as escapes, and no text adds a line', async (t) => {
  const folder = t.testdir()
  const [file, secondFile] = [`${folder}/plants.db`, `${folder}/other.db`]
  const first = await openTestStore({ file })
  const second = await openTestStore({ file: secondFile })
  const owner = `${HOSTILE}\nfaked\tline`
  await issueToken(first, 'joe')
  await first.create(owner, 1n, { name: 'a' })
  await second.create(owner, 1n, { name: 'b' })
  for (const store of [first, second]) await store.close()
  {
    using db = new DatabaseSync(file)
    db.prepare("UPDATE access_tokens SET item = json_set(item, '$.caller', ?)").run(owner)
  }
  const environment = { DATABASE_URL: `sqlite:${file}` }
  const list = await run(program('token', 'list'), environment)
  t.match(list, { code: 0, stdout: '\\u001b]0;owned\\u0007\\u001b[2J\\u202egnp.exe\\u2066\\u2028' })
  t.equal(list.stdout.split('\n').length, 2, 'one line')
  t.equal(list.stdout.split('\t').length, 4, 'of four columns')
  const copied = await run(program('copy', `sqlite:${secondFile}`), environment)
  t.match(copied, { code: 1, stderr: 'plants: 1 of "\\u001b]0;owned' })
  {
    using db = new DatabaseSync(file)
    db.exec(`CREATE VIEW "${owner}" AS SELECT 1`)
  }
  const checked = await run(program('backup', 'check'), environment)
  t.match(checked, { code: 1, stderr: /^its view \\u001b.* is not made by this program\n$/ })
  const started = await run(program('main'), { ...environment, PORT: '0', ADMIN_PORT: '0' })
  t.match(started, { code: 1, stdout: 'is not made by this program' })
  for (const { stdout, stderr } of [list, copied, checked]) t.notMatch(stdout + stderr, RAW)
})

t.test('commands show their own words as escapes', async (t) => {
  const commands = [
    ...[
      ['token', 'issue'],
      ['token', 'issue', 'a', '--expires'],
      ['token', 'revoke'],
    ],
    ...[['token'], ['backup', 'save', 'a'], ['backup', 'restore'], ['copy'], ['main']],
    ...[['generate', '--dry-run'], ['generate'], ['dev']],
  ] as const
  const file = `${t.testdir()}/plants.db`
  const runs = commands.map(async ([name = 'main', ...words]) => {
    const command = program(name, ...words, HOSTILE)
    const { code, stdout, stderr } = await run(command, { DATABASE_URL: `sqlite:${file}` })
    t.strictSame({ code, stdout }, { code: 1, stdout: '' }, name)
    t.notMatch(stderr, RAW, name)
    t.match(stderr, /^[^\n]+\n$/, name)
  })
  await Promise.all(runs)
})

t.test('the banner shows the name of a file as an escape', async (t) => {
  const folder = t.testdir()
  const DATABASE_URL = `sqlite:${folder}/${HOSTILE.replace('\u2028', '')}.db`
  const service = await startService(t, { DATABASE_URL, NODE_ENV: 'development' })
  service.child.kill('SIGTERM')
  const { stderr } = await service.ended
  t.match(stderr, `  Data    ${folder}/\\u001b]0;owned\\u0007`)
  t.notMatch(stderr, RAW)
})

t.test('generate shows what a contract says as escapes, and no text adds a line', async (t) => {
  const yaml = (text: string) => JSON.stringify(text).replaceAll('\u007f', '\\u007f')
  const operation = `get: { operationId: a, responses: { '204': { description: x, ${yaml(`bad${HOSTILE}`)}: 7 } } }`
  const folder = t.testdir({
    'openapi.yaml': `openapi: 3.1.0\ninfo: { title: Small, version: 1.0.0 }\npaths:\n  ${yaml(`/x${HOSTILE}\nGET /faked: served`)}: { ${operation} }\n`,
  })
  const { code, stdout, stderr } = await run(
    program('generate', '--dry-run', `${folder}/openapi.yaml`),
    {},
  )
  t.equal(code, 0)
  t.match(stdout, '\\u001b')
  t.match(stdout, /^GET .*\nrefused: .*\nrefused: .*\n0 of 1 operations are served: .*\n$/)
  t.notMatch(stdout + stderr, RAW)
})
