// The command line that all commands share. Each command has its own test file.
import { readdirSync, readFileSync } from 'node:fs'
import t from 'tap'
import { run } from '../../support/process.ts'

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
  t.strictSame(commands.toSorted(), [
    'backup.ts',
    'copy.ts',
    'dev.ts',
    'generate.ts',
    'main.ts',
    'token.ts',
  ])
})
