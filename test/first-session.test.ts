import { readFileSync } from 'node:fs'
import { spawnSync } from 'node:child_process'
import t from 'tap'
import { product } from '../service/product.ts'
import { build } from './support/servers/start-product.ts'
import { run } from './support/processes/programs.ts'

const skip = spawnSync('curl', ['--version']).status === 0 ? false : 'curl is not installed'

t.test('the first session of the README works as printed', { skip }, async (t) => {
  const file = `${t.testdir()}/plants.db`
  const { port } = await build(t, { DATABASE_URL: `sqlite:${file}` }, product)
  const [, session = ''] = /```console\n(.*?)```/s.exec(readFileSync('README.md', 'utf8')) ?? []
  const script = session
    .replaceAll(/^(?!\$ ).*\n/gm, '')
    .replaceAll(/^\$ (.*)/gm, '$1; echo')
    .replaceAll(':3000/', `:${port}/`)
  const expected = session.replaceAll(/^\$ .*\n/gm, '')
  const { stdout, stderr } = await run(['sh', '-c', script], { DATABASE_URL: `sqlite:${file}` })
  // curl also prints its progress to standard error.
  const [expiry = ''] = /^The token for alice.*\n/m.exec(stderr) ?? []
  const withoutTime = (text: string) => text.replaceAll(/\d{4}-[\d:.T-]+Z/g, '<time>')
  t.equal(
    withoutTime(expiry + stdout.replaceAll(/\r?\n+/g, '\n').trimStart()),
    withoutTime(expected),
  )
})
