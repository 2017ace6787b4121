// The real process does not serve a damaged database file.
import { readFileSync, writeFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import { openTestStore } from '../../../support/stores.ts'
import { call } from '../../../support/helper.ts'
import { startService } from '../../../support/process.ts'
import { issueToken } from '../../../support/tokens.ts'

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

for (const signal of [undefined, 'SIGTERM'] as const) {
  const when = signal ? ', also while it stops' : ''
  t.test(`when a request finds the file corrupt, no other is served and the process fails${when}`, async (t) => {
    const { file, token, DATABASE_URL } = await prepare(t)
    damage(file, "joe's plant")
    const { port, child, ended } = await startService(t, { DATABASE_URL, LOG_LEVEL: 'info' })
    const list = await call(port, { path: '/plants', token })
    t.match(list, { status: 503, headers: { 'retry-after': '1' } })
    if (signal) child.kill(signal)
    const { code, stdout } = await ended
    const [fatal, ...others] = stdout.match(/^\{"level":60.*/gm) ?? []
    t.strictSame([code, others], [1, []])
    t.match(fatal, /"errcode":11\b.*"msg":"the database is corrupt, or its disk fails"/)
  })
}
