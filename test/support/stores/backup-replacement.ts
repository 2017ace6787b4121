// A backup, and a store after a crash that the backup replaces.
import { copyFileSync, mkdirSync, statSync } from 'node:fs'
import type { Test } from 'tap'
import { openTestStore, type TestStore } from './open-store.ts'
import { saveBackup } from '../inner/backup.ts'
import { namesIn } from './read-page.ts'
import { issueToken } from '../servers/access-tokens.ts'

/** How many plants the old store has, and the backup. */
const COUNTS = { old: 300, new: 10 } as const

/** Makes long names: the two halves of a store then are on different pages. */
const nameOf = (what: string, id: number) => `${what} ${id} `.padEnd(200, 'x')

/** Opens a new store with plants. The second half of them is only in the log. */
async function fill(file: string, what: keyof typeof COUNTS): Promise<TestStore> {
  const before = await openTestStore({ file })
  await issueToken(before, 'joe')
  const ids = Array.from({ length: COUNTS[what] }, (_, id) => id)
  const half = ids.length / 2
  const create = (store: TestStore, id: number) =>
    store.create('joe', BigInt(id), { name: nameOf(what, id) })
  await Promise.all(ids.slice(0, half).map((id) => create(before, id)))
  await before.close()
  const store = await openTestStore({ file })
  await Promise.all(ids.slice(half).map((id) => create(store, id)))
  return store
}

export type Replacement = Awaited<ReturnType<typeof prepareReplacement>>

/** Makes a backup of a store, and a folder `left` with another store after a crash: a part of it is only in its log. */
export async function prepareReplacement(t: Test) {
  const folder = t.testdir()
  const [left, backup] = [`${folder}/left`, `${folder}/backup.db`]
  const stores = [await fill(`${folder}/new.db`, 'new'), await fill(`${folder}/old.db`, 'old')]
  await saveBackup(`${folder}/new.db`, backup)
  mkdirSync(left)
  for (const end of ['', '-wal']) copyFileSync(`${folder}/old.db${end}`, `${left}/plants.db${end}`)
  for (const end of ['', '-wal']) t.ok(statSync(`${left}/plants.db${end}`).size > 10_000)
  for (const store of stores) await store.close()
  return { folder, left, backup }
}

/** Opens a file as the service does, and says which of the two stores it has. @throws {Error} unless it is complete */
export async function storeIn(file: string): Promise<'old' | 'new'> {
  const store = await openTestStore({ file })
  try {
    const names = await namesIn(store, 'joe')
    const what = names.length === COUNTS.new ? 'new' : 'old'
    const isWhole =
      names.length === COUNTS[what] && names.every((name, id) => name === nameOf(what, id))
    if (!isWhole || (await store.tokens.list()).length !== 1)
      throw new Error(`neither of them: ${names.join()}`)
    return what
  } finally {
    await store.close()
  }
}
