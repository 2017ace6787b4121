// The `token` command, beside a running service.
import t from 'tap'
import { build } from '../../../../test/support/servers/start-product.ts'
import { program, run } from '../../../../test/support/processes/programs.ts'
import { eventually } from '../../../../test/support/processes/eventually.ts'
import { NPM } from '../../../../test/support/project/copy.ts'
import { openTestStore } from '../../../../test/support/stores/open-store.ts'
import { issueToken, tokenIdOf } from '../../../../test/support/servers/access-tokens.ts'

const folder = t.testdir()
const file = `${folder}/plants.db`
const DATABASE_URL = `sqlite:${file}`
const { call, store } = await build(t, { DATABASE_URL })

const token = (...words: string[]) => run(program('token', ...words), { DATABASE_URL })
const status = async (token: string) => (await call({ path: '/plants', token })).status

/**
 * The tokens in the file, as another process sees them: the service may know the list of a second
 * ago.
 */
async function listed() {
  const visitor = await openTestStore({ file }, { isExclusive: false })
  return visitor.tokens.list().finally(() => visitor.close())
}

t.test(
  'issue prints only a token, which the service accepts; standard error says when it expires',
  async (t) => {
    const { code, stdout, stderr } = await token('issue', 'joe@example.com')
    t.equal(code, 0)
    t.match(stdout, /^plant_[0-9a-f]{48}\n$/)
    t.equal(await status(stdout.trim()), 200)
    const [stored] = await listed()
    const expires = stored?.expires?.toISOString()
    t.equal(
      stderr,
      `The token for joe@example.com expires on ${expires}. It can't be shown again.\n`,
    )
    t.equal(Number(stored?.expires) - Number(stored?.created), 90 * 864e5, 'after 90 days')
  },
)

t.test('without -- for npm, no token silently gets another lifetime', async (t) => {
  const words = ['token', 'issue', 'carol', '--expires', '1h']
  const { code, stdout, stderr } = await run([...NPM, 'run', '--silent', ...words], {
    DATABASE_URL,
  })
  // npm has an option of this name since version 11, and drops values other than numbers.
  if (code === 0) t.match(stderr, /^The token for carol expires on \d{4}-/m)
  else
    t.match(
      [stdout, stderr],
      ['', /npm took --expires as its own option: write -- before the words\n$/],
    )
  // Older versions of npm took the option without its value.
  const older = await run(program('token', ...words.slice(1, 3), '1h'), {
    DATABASE_URL,
    npm_config_expires: 'true',
  })
  t.match(older, {
    code: 1,
    stdout: '',
    stderr: 'npm took --expires as its own option: write -- before the words\n',
  })
})

t.test(
  'issue takes a lifetime and scopes; list prints a line for each token with all that it has',
  async (t) => {
    const start = (await token('list')).stdout
    const issued: [
      caller: string,
      lifetime: number | undefined,
      scopes: string[],
      ...words: string[],
    ][] = [
      ['seconds', 30_000, ['read', 'write'], '--scope', 'read write', '--expires', '30s'],
      [
        'minutes',
        900_000,
        ['read', 'write', 'x!'],
        '--scope=read',
        '--scope',
        ' write  x!',
        '--expires=15m',
      ],
      ['hours', 43_200_000, [], '--expires=12h'],
      ['days', 999999 * 864e5, [], '--expires', '999999d'],
      ['never', undefined, ['read'], '--expires', 'never', '--scope', 'read'],
    ]
    const time = '\\d{4}-\\d\\d-\\d\\dT[\\d:.]{12}Z'
    const lines: string[] = []
    for (const [caller, lifetime, scopes, ...words] of issued) {
      const { code, stderr } = await token('issue', caller, ...words)
      t.equal(code, 0)
      t.match(
        stderr,
        `The token for ${caller} ${lifetime === undefined ? 'never expires. ' : 'expires on '}`,
      )
      const issued = (await listed()).find((candidate) => candidate.caller === caller)
      t.equal(issued?.expires && Number(issued.expires) - Number(issued.created), lifetime)
      t.strictSame(issued?.scopes, scopes)
      const expires = lifetime === undefined ? 'never' : time
      const shown = scopes.map((scope) => RegExp.escape(scope)).join(' ')
      lines.push(`[0-9a-f]{16}\t${caller}\t${time}\t${expires}${shown && '\t'}${shown}\n`)
    }
    const { code, stdout, stderr } = await token('list')
    t.strictSame({ code, stderr }, { code: 0, stderr: '' })
    t.match(stdout.slice(start.length), new RegExp(`^${lines.join('')}$`))
  },
)

t.test('a revoked token is refused by the running service', async (t) => {
  const issued = await issueToken(store, 'revoked')
  t.equal(await status(issued), 200)
  const id = await tokenIdOf(store, 'revoked')
  t.strictSame(await token('revoke', id), { code: 0, signal: null, stdout: '', stderr: '' })
  await eventually(async () => (await status(issued)) === 401)
  t.equal((await token('list')).stdout.includes(id), false)
  t.strictSame(await token('revoke', id), {
    code: 1,
    signal: null,
    stdout: '',
    stderr: `no token has the id ${id}\n`,
  })
})

t.test('a wrong command line prints what is wrong, and does nothing', async (t) => {
  const before = await listed()
  const callerFault =
    /^the caller ".*" must be 1 to 64 letters, digits and _\.@-, the first one not -\n$/
  const timeFault = /^--expires ".*" must be a time such as 30s, 15m, 12h or 90d, or never\n$/
  const issue = (message: RegExp, ...words: string[]): [RegExp, ...string[]] => [
    message,
    'issue',
    'joe',
    ...words,
  ]
  const scopeFault = /^--scope ".*" must be visible ASCII characters/
  const faulty: [message: RegExp | string, ...words: string[]][] = [
    ['the first word must be issue or list or revoke (--help prints the usage)\n'],
    ['the first word must be issue or list or revoke (--help prints the usage)\n', 'isue', 'joe'],
    // The last three are names of other sources.
    ...['', 'a b', 'ü', 'x'.repeat(65), '#login#joe', 'https://id.example#joe', 'id#joe'].map(
      (caller): [RegExp, ...string[]] => [callerFault, 'issue', caller],
    ),
    ...['', '0s', '1', '1.5h', '1w', '1D', '1000000d', '1d 1h'].map((time) =>
      issue(timeFault, '--expires', time),
    ),
    ...['', ' ', 'a"', 'ä', 'a\\b', 'a\tb'].map((scope) => issue(scopeFault, '--scope', scope)),
    [/^Option '--expires' argument is ambiguous\. .*\n$/, 'issue', 'joe', '--expires', '-1s'],
    [/^Option '--expires <value>' argument missing\n$/, 'issue', 'joe', '--expires'],
    ['unexpected word "joe" (--help prints the usage)\n', 'list', 'joe'],
    [/^Unknown option '--expires'/, 'list', '--expires', '1d'],
    ['<token id> is missing (--help prints the usage)\n', 'revoke'],
  ]
  const answers = faulty.map(async ([message, ...words]) => ({
    message,
    ...(await token(...words)),
  }))
  for (const { message, code, stdout, stderr } of await Promise.all(answers)) {
    t.strictSame({ code, stdout }, { code: 1, stdout: '' }, stderr)
    t.match(stderr, message)
    t.match(stderr, /^.+\n$/, 'one line')
  }
  t.strictSame(await listed(), before)
})
