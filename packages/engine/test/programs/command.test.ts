// The common command line of all commands. Each command has another test file, too.
import { readdirSync, readFileSync } from 'node:fs'
import t from 'tap'
import { run } from '../../../../test/support/processes/programs.ts'
import { NPM } from '../../../../test/support/project/copy.ts'

for (const [option, ...words] of [
  ['--scope', 'token', 'issue', 'joe', '--scope', 'a'],
  ['--expires', 'token', 'issue', 'joe', '--expires', '12'],
  ['--replace', 'backup', 'restore', 'package.json', '--replace'],
  ['--check', 'generate', '--check'],
  ['--dry-run', 'generate', '--dry-run'],
] as const) {
  t.test(`npm run ${words.join(' ')} without -- ends with an error`, async (t) => {
    const environment = { DATABASE_URL: `sqlite:${t.testdir()}/plants.db` }
    const { code, stdout, stderr } = await run([...NPM, 'run', '--silent', ...words], environment)
    t.strictSame(
      { code, stdout, stderr },
      {
        code: 1,
        stdout: '',
        stderr: `npm took ${option} as its own option: write -- before the words\n`,
      },
    )
  })
}

t.test('every command prints its usage for --help, and reports an error in one line', async (t) => {
  const { scripts }: { scripts: Record<string, string> } = JSON.parse(
    readFileSync('package.json', 'utf8'),
  )
  const files = readdirSync('service').filter((file) => file.endsWith('.ts'))
  const commands = files.filter((file) => /^await /m.test(readFileSync(`service/${file}`, 'utf8')))
  const runs = commands.map(async (file) => {
    const command = new RegExp(`\\bnode .*service/${file}$`)
    const [name = ''] = Object.entries(scripts).find(([, script]) => command.test(script)) ?? []
    t.not(name, '', `npm run has ${file}`)
    for (const words of [['--help'], ['wrong', '-h']]) {
      const { code, stdout, stderr } = await run(
        [process.execPath, `service/${file}`, ...words],
        {},
      )
      t.strictSame({ code, stderr }, { code: 0, stderr: '' })
      t.match(stdout, new RegExp(`^usage: ${name}\\b`))
    }
    const { code, stdout, stderr } = await run([process.execPath, `service/${file}`, '--wrong'], {})
    t.strictSame({ code, stdout }, { code: 1, stdout: '' })
    t.match(stderr, /^(Unknown option '--wrong'|the first word must be ).*\n$/)
  })
  await Promise.all(runs)
  t.strictSame(commands.sort(), [
    'backup.ts',
    'copy.ts',
    'dev.ts',
    'generate.ts',
    'lint.ts',
    'main.ts',
    'new.ts',
    'token.ts',
  ])
})
