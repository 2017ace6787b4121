// The real process does not serve a damaged database file.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { pino } from 'pino'
import { pathToFileURL } from 'node:url'
import t, { type Test } from 'tap'
import { startCheck } from '../../../service/store/sqlite/check.ts'
import { openTestStore } from '../../support/stores.ts'
import { call } from '../../support/helper.ts'
import { startService } from '../../support/process.ts'
import { eventually } from '../../support/project.ts'
import { issueToken } from '../../support/tokens.ts'

const PAGE = 4096
/** The first byte of a leaf page of an index (https://sqlite.org/fileformat2.html#b_tree_pages). */
const LEAF = 10

/** A file with plants of some owners, and a token of "joe". */
async function prepare(t: Test) {
  const file = `${t.testdir()}/plants.db`
  const store = await openTestStore({ file })
  const token = await issueToken(store, 'joe')
  const create = (owner: string, id: number) =>
    store.create(owner, BigInt(id), { name: `${owner}'s plant ${id}`, tag: '🌱'.repeat(255) })
  for (const owner of ['ann', 'joe', 'zoe'])
    await Promise.all(Array.from({ length: 1000 }, (_, id) => create(owner, id)))
  await store.close()
  return { file, token, DATABASE_URL: `sqlite:${file}` }
}

/** Damages the lowest pages of a file that hold a text. */
function damage(file: string, text: string): void {
  const bytes = readFileSync(file)
  for (let at = PAGE; at < bytes.length; at += PAGE) {
    const page = bytes.subarray(at, at + PAGE)
    if (page[0] === LEAF && page.includes(text)) page.fill(7, 0, 64)
  }
  writeFileSync(file, bytes)
}

/** Only Linux has /proc. */
const LINUX = { skip: process.platform === 'linux' ? false : 'not on Linux' }

const PRODUCTION = { LOG_LEVEL: 'info', NODE_ENV: 'production' }

const lines = (stdout: string): Record<string, unknown>[] =>
  stdout
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line))

for (const signal of [undefined, 'SIGTERM'] as const) {
  const when = signal ? ', also while it stops' : ''
  t.test(`when a request finds the file corrupt, no other is served and the process fails${when}`, async (t) => {
    const { file, token, DATABASE_URL } = await prepare(t)
    damage(file, "joe's plant")
    const { port, child, ended } = await startService(t, { DATABASE_URL, ...PRODUCTION })
    const list = await call(port, { path: '/plants', token })
    t.match(list, { status: 503, headers: { 'retry-after': '1' } })
    if (signal) child.kill(signal)
    const { code, stdout } = await ended
    t.equal(code, 1)
    const fatal = lines(stdout).filter(({ level }) => level === 60)
    t.match(fatal, [{ msg: 'the database is corrupt', err: { errcode: 11 } }])
    t.equal(fatal.length, 1)
  })
}

t.test(
  'the check in the background finds damage that no request has met: the service is not ready, and says why',
  async (t) => {
    const { file, token, DATABASE_URL } = await prepare(t)
    damage(file, "zoe's plant")
    const { port, adminPort, child, printed } = await startService(t, { DATABASE_URL, ...PRODUCTION })
    const admin = (path: string) => fetch(`http://127.0.0.1:${adminPort}${path}`)
    await eventually(async () => (await admin('/readyz')).status === 503)
    t.match(await (await admin('/metrics')).text(), /^plants_store_sound 0$/m)
    t.equal((await call(port, { path: '/plants?limit=1', token })).status, 503)
    await eventually(() => printed.stdout.includes('the database is corrupt'))
    const found = lines(printed.stdout).find(({ msg }) => msg === 'the database is corrupt')
    t.match(found, { level: 50, faults: [/returns error code 11/] })
    t.equal((await admin('/livez')).status, 200, 'a restart would not help')
    child.kill('SIGTERM')
  },
)

t.test('a check that stops at a damaged page reports it', async (t) => {
  const { file, DATABASE_URL } = await prepare(t)
  damage(file, 'zoe\'s plant 0"')
  const service = await startService(t, { DATABASE_URL, ...PRODUCTION })
  await service.until(/"level":50,.*"faults":\["database disk image is malformed"\],"msg":"the database is corrupt"/)
  const metrics = await fetch(`http://127.0.0.1:${service.adminPort}/metrics`)
  t.match(await metrics.text(), /^plants_store_sound 0$/m)
})

t.test('a check that can not run is logged', async (t) => {
  let line = ''
  const log = pino({}, { write: (text: string) => void (line += text) })
  startCheck(`${t.testdir()}/none.db`, log, () => t.fail('it was carried out'))
  await eventually(() => line !== '')
  t.match(JSON.parse(line), { level: 40, msg: 'the database could not be checked' })
})

t.test('the check of a sound file is in the log and in the metrics', async (t) => {
  const { DATABASE_URL } = await prepare(t)
  const service = await startService(t, { DATABASE_URL, ...PRODUCTION })
  await service.until(/"level":30,.*"msg":"the database is sound"/)
  const metrics = await fetch(`http://127.0.0.1:${service.adminPort}/metrics`)
  t.match(await metrics.text(), /^plants_store_sound 1$/m)
})

t.test('a check that still runs at SIGTERM is ended, and the store is closed after it', LINUX, async (t) => {
  const { file, DATABASE_URL } = await prepare(t)
  // The process of the check stops itself when it has opened the file.
  const stopper = `${t.testdirName}/stopper.mjs`
  const script = `import { DatabaseSync } from 'node:sqlite'
    const { prepare } = DatabaseSync.prototype
    if (process.argv[1].endsWith('check.ts')) DatabaseSync.prototype.prepare = function (sql) {
      this.exec('SELECT 1 FROM plants')
      process.kill(process.pid, 'SIGSTOP')
      return prepare.call(this, sql)
    }`
  writeFileSync(stopper, script)
  const command = [
    'env',
    `NODE_OPTIONS=--import=${String(pathToFileURL(stopper))}`,
    process.execPath,
    'service/main.ts',
  ]
  const { child, ended } = await startService(t, { DATABASE_URL, ...PRODUCTION }, command)
  let stopped: string | undefined
  await eventually(() => {
    const children = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').trim().split(' ')
    stopped = children.find((pid) => pid !== '' && /\) T /.test(readFileSync(`/proc/${pid}/stat`, 'utf8')))
    return stopped !== undefined
  })
  child.kill('SIGTERM')
  t.match(await ended, { code: 0 })
  t.throws(() => process.kill(Number(stopped), 0), { code: 'ESRCH' })
  t.notOk(existsSync(`${file}-wal`), 'the store is closed')
})
