// The operating system refuses the embedded store write permission or disk space, or its file is
// damaged. test/system/faults.test.ts has a full disk.
import { readFileSync, writeFileSync } from 'node:fs'
import t from 'tap'
import { range } from '../../../../test/support/stores/store-engines.ts'
import { call } from '../../../../test/support/servers/start-product.ts'
import { run, startService } from '../../../../test/support/processes/programs.ts'
import { openNewFile, type Plant } from '../../../../test/support/stores/open-store.ts'
import { issueToken, issueTokenIn } from '../../../../test/support/servers/access-tokens.ts'

const OPEN = JSON.stringify(import.meta.resolve('../../../../test/support/stores/open-store.ts'))
/** Root may write everything, unless it has lost this right. */
const restricted = process.getuid?.() === 0 ? ['setpriv', '--bounding-set=-dac_override'] : []

t.test('a start fails if a file or the folder is not writable, and names it', async (t) => {
  const folder = t.testdir()
  const script = `
    import { chmodSync } from 'node:fs'
    const { openTestStore } = await import(${OPEN})
    const folder = process.env.FOLDER
    const file = folder + '/plants.db'
    const store = await openTestStore({ file })
    await store.create('joe', 1n, { name: 'Rose' })
    const refusals = []
    for (const path of [file, file + '-wal', file + '.lock']) {
      chmodSync(path, 0o444)
      const message = await openTestStore({ file }, { isExclusive: false }).then(() => 'opened', (error) => error.message)
      refusals.push([path, message])
      chmodSync(path, 0o644)
    }
    await openTestStore({ file: '/proc/plants.db' }).catch((error) => refusals.push(['/proc', error.message]))
    console.log(JSON.stringify(refusals))
    process.kill(process.pid, 'SIGKILL')`
  const command = [...restricted, process.execPath, '--input-type=module', '-e', script]
  const { stdout, stderr } = await run(command, { FOLDER: folder })
  t.equal(stderr, '')
  const refusals: [path: string, message: string][] = JSON.parse(stdout)
  t.equal(refusals.length, 4)
  for (const [path, message] of refusals) t.match(message, new RegExp(`E(ACCES|NOENT).*'${path}`))
})

t.test(
  'when the log can not grow (EFBIG), a failed commit is 503, and the service goes on',
  async (t) => {
    const file = `${t.testdir()}/plants.db`
    const token = await issueTokenIn({ file })
    const environment = {
      DATABASE_URL: `sqlite:${file}`,
      NODE_COMPILE_CACHE: '',
      NODE_V8_COVERAGE: '',
    }
    // Blocks of 512 or 1024 bytes: it depends on the shell.
    const command = [
      'sh',
      '-c',
      'ulimit -f 400 && exec "$0" "$@"',
      process.execPath,
      'test/support/product/main.ts',
    ]
    const { port, adminPort, child, ended } = await startService(t, environment, command)
    const answered: number[] = []
    let refused = 0
    for (let id = 0; refused < 5 && id < 500; id++) {
      const body = { id, name: String(id), tag: '🌵'.repeat(255) }
      const { status, headers } = await call(port, { method: 'POST', path: '/plants', token, body })
      if (status === 200) answered.push(id)
      else refused += 1
      if (status !== 200)
        t.match({ status, headers }, { status: 503, headers: { 'retry-after': '1' } })
    }
    t.equal(refused, 5)
    t.ok(answered.length > 10)
    const names = answered.map(String)
    const namesOf = (json: unknown) => (json as Plant[]).map(({ name }) => name) // the contract was checked
    t.strictSame(namesOf((await call(port, { path: '/plants', token })).json), names)
    t.equal((await fetch(`http://127.0.0.1:${adminPort}/readyz`)).status, 200)
    child.kill('SIGKILL')
    t.match(await ended, { signal: 'SIGKILL' })
    const again = await startService(t, { DATABASE_URL: `sqlite:${file}` })
    t.strictSame(
      namesOf((await call(again.port, { path: '/plants', token })).json),
      names,
      'nothing was half done',
    )
  },
)

const PAGE = 4096
/** The first byte of a leaf page of an index (https://sqlite.org/fileformat2.html#b_tree_pages). */
const LEAF = 10

/** Damages the pages of a file that hold a string, but not those that point to them. */
function damage(file: string, text: string): void {
  const bytes = readFileSync(file)
  for (let at = PAGE; at < bytes.length; at += PAGE) {
    const page = bytes.subarray(at, at + PAGE)
    if (page[0] === LEAF && page.includes(text)) page.fill(7, 0, 64)
  }
  writeFileSync(file, bytes)
}

for (const signal of [undefined, 'SIGTERM'] as const) {
  const when = signal ? ', also while it stops' : ''
  t.test(
    `when a request finds the file corrupt, no other is served and the process fails${when}`,
    async (t) => {
      const { store, file } = await openNewFile(t)
      const token = await issueToken(store, 'joe')
      const plant = (id: number) => ({ name: `joe's plant ${id}`, tag: '🌱'.repeat(255) })
      await Promise.all(range(1000).map((id) => store.create('joe', BigInt(id), plant(id))))
      await store.close()
      damage(file, "joe's plant")
      const { port, child, ended } = await startService(t, {
        DATABASE_URL: `sqlite:${file}`,
        LOG_LEVEL: 'info',
      })
      const list = await call(port, { path: '/plants', token })
      t.match(list, { status: 503, headers: { 'retry-after': '1' } })
      if (signal) child.kill(signal)
      const { code, stdout } = await ended
      const [fatal, ...others] = stdout.match(/^\{"level":60.*/gm) ?? []
      t.strictSame([code, others], [1, []])
      t.match(fatal, /"errcode":11\b.*"msg":"the database is corrupt, or its disk fails"/)
    },
  )
}
