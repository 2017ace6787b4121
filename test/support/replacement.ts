import { copyFileSync, mkdirSync, statSync } from 'node:fs'
import type { Test } from 'tap'
import { openStore } from '../../service/store/open.ts'
import { saveBackup } from '../../service/store/sqlite/backup.ts'
import type { Store } from '../../service/store/store.ts'
import { namesIn } from './pages.ts'
import { issueToken } from './tokens.ts'

/** How many plants the store that is replaced has, and the backup. */
const COUNTS = { old: 300, new: 10 } as const

/** Long names, for the halves of a store to be in pages of their own. */
const nameOf = (what: string, id: number) => `${what} ${id} `.padEnd(200, 'x')

/** Opens a new store with its plants, of which the second half is in the log only. */
async function fill(file: string, what: keyof typeof COUNTS): Promise<Store> {
  const before = await openStore({ file })
  await issueToken(before, 'joe')
  const ids = Array.from({ length: COUNTS[what] }, (_, id) => id)
  const half = ids.length / 2
  const create = (store: Store, id: number) => store.create('joe', BigInt(id), { name: nameOf(what, id) })
  await Promise.all(ids.slice(0, half).map((id) => create(before, id)))
  await before.close()
  const store = await openStore({ file })
  await Promise.all(ids.slice(half).map((id) => create(store, id)))
  return store
}

/** What a restore begins with. */
export interface Replacement {
  /** A folder for files. */
  readonly folder: string
  /** A folder with a store of which a part is in its log only, as a crash leaves it. */
  readonly left: string
  /** A backup of another store. */
  readonly backup: string
}

export async function prepareReplacement(t: Test): Promise<Replacement> {
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

/** Which of the two stores a file has, as the service would open it. @throws {Error} unless it is whole */
export async function storeIn(file: string): Promise<'old' | 'new'> {
  const store = await openStore({ file })
  try {
    const names = await namesIn(store, 'joe')
    const what = names.length === COUNTS.new ? 'new' : 'old'
    const isWhole = names.length === COUNTS[what] && names.every((name, id) => name === nameOf(what, id))
    if (!isWhole || (await store.listTokens()).length !== 1) throw new Error(`neither of them: ${names.join()}`)
    return what
  } finally {
    await store.close()
  }
}
