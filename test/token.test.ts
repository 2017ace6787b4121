import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { build } from './support/helper.ts'
import { run } from './support/process.ts'
import { eventually } from './support/project.ts'
import { issueToken, tokenChecker } from '../service/auth/tokens.ts'
import type { Store } from '../service/store/store.ts'

const folder = t.testdir()
const DATABASE_URL = `sqlite:${folder}/plants.db`
const { call, store } = await build(t, { DATABASE_URL })

/** The command, beside the running service. */
const token = (...words: string[]) => run([process.execPath, 'service/token.ts', ...words], { DATABASE_URL })
/** Gives who a token is for, asking a store that begins with nothing remembered. */
const callersOf = (store: Pick<Store, 'findToken'>) => {
  const check = tokenChecker(store)
  return async (token: string) => {
    const verdict = await check(token)
    return 'caller' in verdict ? verdict.caller : undefined
  }
}
const status = async (token: string) => (await call({ path: '/plants', token })).status

t.test('issue prints a token, alone, that works in the running service', async (t) => {
  const { code, stdout, stderr } = await token('issue', 'joe@example.com')
  t.strictSame({ code, stderr }, { code: 0, stderr: '' })
  t.match(stdout, /^plant_[0-9a-f]{48}\n$/)
  t.equal(await status(stdout.trim()), 200)
  t.equal(await callersOf(store)(stdout.trim()), 'joe@example.com')
})

t.test('list gives a line for each token: id, caller, created, expires', async (t) => {
  await token('issue', 'ann', '--expires', '90d')
  const { code, stdout, stderr } = await token('list')
  t.strictSame({ code, stderr }, { code: 0, stderr: '' })
  const lines = stdout.trimEnd().split('\n')
  t.strictSame(
    lines.map((line) => line.split('\t')[1]),
    ['joe@example.com', 'ann'],
  )
  for (const line of lines) t.match(line, /^[0-9a-f]{16}\t\S+\t\d{4}-\d\d-\d\dT[\d:.]{12}Z\t(never|\d{4}-[\dT:.-]+Z)$/)
  const [, , created, expires] = lines[1]?.split('\t') ?? []
  t.equal(Date.parse(expires ?? '') - Date.parse(created ?? ''), 90 * 24 * 3_600_000)
})

for (const [text, milliseconds] of [
  ['30s', 30_000],
  ['15m', 900_000],
  ['12h', 43_200_000],
  ['999999d', 999999 * 864e5],
] as const) {
  t.test(`--expires ${text} and --expires=${text} are understood`, async (t) => {
    for (const words of [['--expires', text], [`--expires=${text}`]]) {
      const caller = `for-${text}`
      t.equal((await token('issue', caller, ...words)).code, 0)
      const found = (await store.listTokens()).findLast((each) => each.caller === caller)
      t.equal(Number(found?.expires) - Number(found?.created), milliseconds)
    }
  })
}

t.test('a revoked token is refused by the running service, within 5 seconds', async (t) => {
  const issued = await issueToken(store, 'revoked')
  t.equal(await status(issued), 200)
  const id = (await store.listTokens()).find(({ caller }) => caller === 'revoked')?.id ?? ''
  t.strictSame(await token('revoke', id), { code: 0, signal: null, stdout: '', stderr: '' })
  const revoked = performance.now()
  await eventually(async () => (await status(issued)) === 401)
  t.ok(performance.now() - revoked < 5000)
  t.equal((await token('list')).stdout.includes(id), false)
  t.strictSame(await token('revoke', id), { code: 1, signal: null, stdout: '', stderr: `no token has the id ${id}\n` })
})

t.test('an expired token is refused by the running service', async (t) => {
  const issued = await issueToken(store, 'short', 1000)
  t.equal(await callersOf(store)(issued), 'short')
  await delay(1100)
  t.equal(await status(issued), 401)
})

t.test('a command that is not understood is answered with what is wrong in it, and does nothing', async (t) => {
  const before = await store.listTokens()
  const callerFault = /^the caller ".*" must be 1 to 64 letters, digits and _\.@-, the first one not -\n$/
  const timeFault = /^--expires ".*" must be a time such as 30s, 15m, 12h or 90d\n$/
  const faulty: [message: RegExp | string, ...words: string[]][] = [
    ['a word is missing: issue or list or revoke (--help prints the usage)\n'],
    ['help is unknown (--help prints the usage)\n', 'help'],
    ['isue is unknown; did you mean issue?\n', 'isue', 'joe'],
    ['<caller> is missing (--help prints the usage)\n', 'issue'],
    ['the word "b" is one too many (--help prints the usage)\n', 'issue', 'a', 'b'],
    ...['', 'a b', 'ü', 'x'.repeat(65)].map((caller): [RegExp, ...string[]] => [callerFault, 'issue', caller]),
    ...['', '0s', '1', '1.5h', '1w', '1D', '1000000d', '1d 1h'].map((time): [RegExp, ...string[]] => [
      timeFault,
      ...['issue', 'joe', '--expires', time],
    ]),
    [/^Option '--expires' argument is ambiguous\. .*\n$/, 'issue', 'joe', '--expires', '-1s'],
    [/^Option '--expires <value>' argument missing\n$/, 'issue', 'joe', '--expires'],
    ['--expire is unknown; did you mean --expires?\n', 'issue', 'joe', '--expire', '1d'],
    ['the word "joe" is one too many (--help prints the usage)\n', 'list', 'joe'],
    ['--expires is unknown (--help prints the usage)\n', 'list', '--expires', '1d'],
    ['<token id> is missing (--help prints the usage)\n', 'revoke'],
    ['the word "b" is one too many (--help prints the usage)\n', 'revoke', 'a', 'b'],
  ]
  const answers = await Promise.all(
    faulty.map(async ([message, ...words]) => ({ message, ...(await token(...words)) })),
  )
  for (const { message, code, stdout, stderr } of answers) {
    t.strictSame({ code, stdout }, { code: 1, stdout: '' }, stderr)
    t.match(stderr, message)
    t.match(stderr, /^.+\n$/, 'one line')
  }
  t.strictSame(await store.listTokens(), before)
})

t.test('a fault of the configuration or the store is one line', async (t) => {
  for (const [url, message] of [
    ['mysql:x', /^DATABASE_URL must be sqlite:<file>.*\n$/],
    [`sqlite:${folder}/no/such/plants.db`, /^DATABASE_URL sqlite:.*\n$/],
  ] as const) {
    const { code, stdout, stderr } = await run([process.execPath, 'service/token.ts', 'list'], { DATABASE_URL: url })
    t.strictSame({ code, stdout }, { code: 1, stdout: '' })
    t.match(stderr, message)
  }
})

t.test(
  'a token is valid at once where another was refused, and refused everywhere 5 s after it was revoked',
  async (t) => {
    let looked = 0
    const watched = { ...store, findToken: (digest: Uint8Array) => (looked++, store.findToken(digest)) }
    const callerOf = callersOf(watched)
    const issued = await issueToken(store, 'brief')
    const expiring = await issueToken(store, 'expiring', 1000)
    for (let times = 0; times < 3; times++) {
      t.equal(await callerOf(issued), 'brief')
      t.equal(await callerOf(expiring), 'expiring')
    }
    t.equal(looked, 2, 'not for each request')
    await store.deleteToken((await store.listTokens()).find(({ caller }) => caller === 'brief')?.id ?? '')
    await delay(1000)
    t.equal(await callerOf(expiring), undefined, 'an expiry is known')
    await delay(4000)
    t.equal(await callerOf(issued), undefined)
  },
)

t.test('a token that was mistyped is refused by its checksum, without a look-up', async (t) => {
  const issued = await issueToken(store, 'typist')
  const looked: unknown[] = []
  const watched = { ...store, findToken: async (digest: Uint8Array) => void looked.push(digest) }
  for (let at = 0; at < issued.length; at++) {
    const typed = issued.slice(0, at) + (issued[at] === '7' ? '1' : '7') + issued.slice(at + 1)
    t.equal(await callersOf(watched)(typed), undefined, typed)
  }
  for (const typed of [
    '',
    issued.slice(1),
    issued.slice(0, -1),
    `${issued}0`,
    ` ${issued}`,
    `${issued}\n`,
    issued.toUpperCase(),
  ]) {
    t.equal(await callersOf(watched)(typed), undefined, typed)
  }
  t.equal(looked.length, 0)
  t.equal(await callersOf(watched)(issued), undefined)
  t.equal(looked.length, 1)
})

t.test('a token is compared with the digest that is stored, whatever the store has found', async (t) => {
  const [mine, other] = [await issueToken(store, 'mine'), await issueToken(store, 'other')]
  const found = (await store.listTokens()).find(({ caller }) => caller === 'mine')
  const mistaken = { ...store, findToken: async () => found }
  t.equal(await callersOf(mistaken)(mine), 'mine')
  t.equal(await callersOf(mistaken)(other), undefined)
})

t.test('two tokens are never the same, and none is in the files of the store', async (t) => {
  const tokens = await Promise.all(Array.from({ length: 50 }, () => issueToken(store, 'many')))
  t.equal(new Set(tokens).size, 50)
  for (const file of readdirSync(folder)) {
    const bytes = readFileSync(`${folder}/${file}`)
    for (const each of tokens) {
      const random = each.slice(6, 46)
      t.notOk(bytes.includes(random) || bytes.includes(Buffer.from(random, 'hex')), file)
    }
  }
  t.equal(await callersOf(store)(tokens[7] ?? ''), 'many')
})
