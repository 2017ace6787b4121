// The runner of the tests tells which files did not run: a file that gets lost must not be green.
import { chmodSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { delimiter, resolve } from 'node:path'
import t from 'tap'
import { run } from './process.ts'

const SKIPPED = "import t from 'tap'\nt.plan(0, 'no reason')\n"
const TEST = "import t from 'tap'\nt.ok(true)\n"
/** A tap that loses the file b. Without names, it loses it from those that .taprc includes. */
const LOSES = `#!/bin/sh
for word in "$@"; do shift; case $word in *b.test.ts) ;; *) set -- "$@" "$word" ;; esac; done
case "$*" in *.test.ts*) ;; *) set -- "$@" test/[ac].test.ts ;; esac
exec "$TAP" "$@"
`
const folder = t.testdir({
  '.taprc': "include: ['test/*.test.ts']\nplugin: ['!@tapjs/typescript', '!@tapjs/mock']\n",
  'package.json': '{ "type": "module" }',
  test: { 'a.test.ts': TEST, 'b.test.ts': TEST, 'c.test.ts': SKIPPED },
  bin: { tap: LOSES },
})
symlinkSync(resolve('node_modules'), `${folder}/node_modules`)
chmodSync(`${folder}/bin/tap`, 0o755)
utimesSync(`${folder}/.taprc`, 0, 0) // so that tap is not built anew
const PATH = process.env['PATH'] ?? ''
const TAP = resolve('node_modules/.bin/tap')

/** Runs the runner. @param path where it looks for tap */
const start = (path: string, ...words: string[]) =>
  run([process.execPath, resolve('test/support/run.ts'), ...words], { PATH: path, TAP }, folder)

t.test('a run of all its files says nothing of the others', async (t) => {
  for (const names of [
    ['test/a.test.ts', './test/b.test.ts'],
    ['--jobs=1', resolve(folder, 'test/a.test.ts')],
  ]) {
    const { code, stdout } = await start(PATH, ...names)
    t.equal(code, 0, stdout)
    t.notMatch(stdout, 'Not run')
  }
  const { stdout } = await start(PATH)
  t.notMatch(stdout, 'Not run')
  t.match(stdout, /^skipped test\/c\.test\.ts, no reason$/m)
})

t.test('a file that was lost is named, and the run fails', async (t) => {
  const loses = `${folder}/bin${delimiter}${PATH}`
  for (const names of [['test/a.test.ts', 'test/b.test.ts'], ['--jobs=1']]) {
    const { code, stdout } = await start(loses, ...names)
    t.match(stdout, /^ok {5}test\/a\.test\.ts/m)
    t.match(stdout, /^Not run: test\/b\.test\.ts$/m)
    t.equal(code, 1, stdout)
  }
})

t.test('what failed is named at the end', async (t) => {
  const check = "  t.equal(1, 2, 'the check')\n  t.ok(true)\n"
  writeFileSync(`${folder}/test/d.test.ts`, `import t from 'tap'\nt.test('the test', async (t) => {\n${check}})\n`)
  const { code, stdout } = await start(PATH, 'test/a.test.ts', 'test/d.test.ts')
  t.match(stdout, /^Failed:\ntest\/d\.test\.ts: the test > the check\n$/m)
  t.equal(code, 1)
})

t.test('a file that does not exist is named', async (t) => {
  const { code, stdout } = await start(PATH, 'test/a.test.ts', 'test/none.test.ts')
  t.match(stdout, /^Not run: test\/none\.test\.ts$/m)
  t.equal(code, 1)
})
