// The command line that all commands share. Each command has its own test file.
import { readdirSync, readFileSync } from 'node:fs'
import t from 'tap'
import { oneOf, readWords } from '../../../service/engine/programs/command.ts'
import { run } from '../../support/process.ts'
import { NPM } from '../../support/project.ts'

const OPTIONS = {
  expires: { type: 'string' },
  scope: { type: 'string', multiple: true },
  check: { type: 'boolean' },
} as const

t.test('options and words are parsed', async (t) => {
  t.strictSame(
    readWords(['a', '--expires', '1h', 'b', '--scope=x y', '--scope', 'z', '--check'], ['<a>', '<b>'], OPTIONS),
    {
      args: ['a', 'b'],
      values: Object.assign(Object.create(null), { expires: '1h', scope: ['x y', 'z'], check: true }),
    },
  )
  t.strictSame(readWords(['--', '--check'], ['<a>'], OPTIONS).args, ['--check'])
})

t.test('an error names the wrong word', async (t) => {
  for (const [words, message] of [
    [[], '<a> is missing (--help prints the usage)'],
    [['a', 'b'], 'unexpected word "b" (--help prints the usage)'],
    [['--expire', '1h'], "Unknown option '--expire'"],
    [['--check=1'], "Option '--check' does not take an argument"],
  ] as const) {
    t.throws(
      () => readWords([...words], ['<a>'], OPTIONS),
      { message: new RegExp(`^${RegExp.escape(message)}`) },
      message,
    )
  }
  t.equal(oneOf('list', ['issue', 'list']), 'list')
  for (const word of ['lst', undefined])
    t.throws(() => oneOf(word, ['issue', 'list']), { message: /^the first word must be issue or list / })
})

t.test('every command prints its usage for --help, and reports an error in one line', async (t) => {
  const { scripts }: { scripts: Record<string, string> } = JSON.parse(readFileSync('package.json', 'utf8'))
  const files = readdirSync('service').filter((file) => file.endsWith('.ts'))
  const commands = files.filter((file) => /^await /m.test(readFileSync(`service/${file}`, 'utf8')))
  const runs = commands.map(async (file) => {
    const command = new RegExp(`\\bnode .*service/${file}$`)
    const [name = ''] = Object.entries(scripts).find(([, script]) => command.test(script)) ?? []
    t.not(name, '', `npm run has ${file}`)
    for (const words of [['--help'], ['wrong', '-h']]) {
      const { code, stdout, stderr } = await run([process.execPath, `service/${file}`, ...words], {})
      t.strictSame({ code, stderr }, { code: 0, stderr: '' })
      t.match(stdout, new RegExp(`^usage: ${name}\\b`))
    }
    const { code, stdout, stderr } = await run([process.execPath, `service/${file}`, '--wrong'], {})
    t.strictSame({ code, stdout }, { code: 1, stdout: '' })
    t.match(stderr, /^(Unknown option '--wrong'|the first word must be ).*\n$/)
  })
  await Promise.all(runs)
  t.strictSame(commands.toSorted(), ['backup.ts', 'copy.ts', 'dev.ts', 'generate.ts', 'main.ts', 'token.ts'])
})

t.test('an error names the option that npm took because -- was missing', async (t) => {
  const { code, stderr } = await run([...NPM, 'run', '--silent', 'generate', '--check'], {})
  t.strictSame(
    { code, stderr: stderr.replaceAll(/^npm warn.*\n/gm, '') },
    {
      code: 1,
      stderr: 'npm took --check as its own option: write -- before the words\n',
    },
  )
})
