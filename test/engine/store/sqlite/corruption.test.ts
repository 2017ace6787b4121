// The real process does not serve a damaged database file.
import { readFileSync, writeFileSync } from 'node:fs'
import t from 'tap'
import { range } from '../../../support/engines.ts'
import { call } from '../../../support/helper.ts'
import { startService } from '../../../support/process.ts'
import { openNewFile } from '../../../support/stores.ts'
import { issueToken } from '../../../support/tokens.ts'

const PAGE = 4096
/** The first byte of a leaf page of an index (https://sqlite.org/fileformat2.html#b_tree_pages). */
const LEAF = 10

/** Damages the pages of a file that hold a text, but not those that point to them. */
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
    const { store, file } = await openNewFile(t)
    const token = await issueToken(store, 'joe')
    const plant = (id: number) => ({ name: `joe's plant ${id}`, tag: '🌱'.repeat(255) })
    await Promise.all(range(1000).map((id) => store.create('joe', BigInt(id), plant(id))))
    await store.close()
    damage(file, "joe's plant")
    const { port, child, ended } = await startService(t, { DATABASE_URL: `sqlite:${file}`, LOG_LEVEL: 'info' })
    const list = await call(port, { path: '/plants', token })
    t.match(list, { status: 503, headers: { 'retry-after': '1' } })
    if (signal) child.kill(signal)
    const { code, stdout } = await ended
    const [fatal, ...others] = stdout.match(/^\{"level":60.*/gm) ?? []
    t.strictSame([code, others], [1, []])
    t.match(fatal, /"errcode":11\b.*"msg":"the database is corrupt, or its disk fails"/)
  })
}
