// The runner of tests: a failure, a crash, a timeout and a missing file must not be green.
import { symlinkSync, utimesSync } from 'node:fs'
import { resolve } from 'node:path'
import t from 'tap'
import { run } from '../../../test/support/processes/programs.ts'

const IMPORT = "import t from 'tap'\n"
const folder = t.testdir({
  '.taprc':
    "include: ['test/[ab].test.ts']\ntimeout: 60\nplugin: ['!@tapjs/typescript', '!@tapjs/mock']\n",
  'package.json': '{ "type": "module" }',
  test: {
    'a.test.ts': `${IMPORT}t.ok(true)\nt.test('one', async (t) => t.ok(true))\n`,
    'b.test.ts': `${IMPORT}t.plan(0, 'no reason')\n`,
    'check.test.ts': `${IMPORT}t.test('the test', async (t) => {\n  t.equal(1, 2, 'the check')\n  t.ok(true)\n})\n`,
    'crash.test.ts': `${IMPORT}t.ok(true)\nprocess.kill(process.pid, 'SIGKILL')\n`,
    'slow.test.ts': 'setTimeout(() => undefined, 60_000)\n',
    support: { 'statuses.ts': '' },
  },
})
symlinkSync(resolve('node_modules'), `${folder}/node_modules`)
utimesSync(`${folder}/.taprc`, 0, 0) // so that tap is not built anew

const start = (...words: string[]) =>
  run([process.execPath, resolve('test/support/run.ts'), ...words], {}, folder)

t.test('without names it runs all files that .taprc includes', async (t) => {
  const { code, stdout } = await start()
  t.equal(code, 0, stdout)
  t.match(stdout, /^ok {5}test\/a\.test\.ts, [\d.]+ s$/m)
  t.match(stdout, /^skipped test\/b\.test\.ts, no reason$/m)
  t.match(stdout, /^2 checks in 2 files, \d+ s$/m)
})

t.test('what failed is named at the end', async (t) => {
  const { code, stdout } = await start('test/a.test.ts', 'test/check.test.ts')
  t.match(stdout, /^ok {5}test\/a\.test\.ts/m)
  t.match(stdout, /^Failed:\ntest\/check\.test\.ts: the check\ntest\/check\.test\.ts: the test\n$/m)
  t.equal(code, 1)
})

t.test('a file that crashes, takes too long or does not exist fails', async (t) => {
  const files = ['crash', 'slow', 'none'].map((name) => `test/${name}.test.ts`)
  const { code, stdout } = await start('--jobs=1', '--timeout=2', ...files)
  t.match(stdout, `Failed:\n${files.join('\n')}\n`)
  t.equal(code, 1)
})
