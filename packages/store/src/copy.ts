// `npm run copy -- sqlite:<file>`: copies everything from there to the store of DATABASE_URL.
import { existsSync } from 'node:fs'
import type { Database, Entry } from './core/database.ts'
import { openDatabase } from './open.ts'
import { type Config, type Product, readConfig } from '@plant-store/engine'
import { readWords, runCommand } from '@plant-store/engine/for-commands'
import { ACCESS_TOKENS, storedCollections } from '@plant-store/engine/for-store'
import { describeCounts } from './core/counts.ts'

const USAGE = `usage: copy sqlite:<file>   copies everything from there to the store of DATABASE_URL

  No service may use the file. After an interruption it can be run again.`

export function copy(product: Product): Promise<void> {
  return runCommand(USAGE, async (words) => {
    if (product.store === undefined) throw new Error('the product has no store to copy to')
    const [source] = readWords(words, ['sqlite:<file>'], {}).args
    const [, file] = /^sqlite:(.+)$/.exec(source) ?? []
    if (file === undefined) throw new Error(`"${source}" must be sqlite:<file>`)
    if (!existsSync(file)) throw new Error(`there is no file ${file}`)
    // No request waits for a copy, and 500 items at a time may be long.
    const settings = { ...readConfig(product.name), DATABASE_TIMEOUT: 120 }
    const options = { collections: storedCollections(product), isExclusive: true, settings }
    await using opened = new AsyncDisposableStack()
    const open = async (database: Config['DATABASE_URL']) =>
      opened.adopt(await openDatabase({ ...options, database }), (store) => store.close())
    // The copy locks the file like a service: no other process can write to it meanwhile.
    const counts = await copyStore(await open({ file }), await open(settings.DATABASE_URL))
    return [`${describeCounts(counts)} are copied`]
  })
}

/**
 * Copies the items of all collections, and the access tokens. It may be repeated: items already in
 * the target stay as they are.
 * @returns the number of copied items, by the names of their collections
 * @throws {Error} if the target has another item with the same owner and key
 */
async function copyStore(from: Database, to: Database): Promise<Readonly<Record<string, number>>> {
  const counts: Record<string, number> = {}
  for (const [name, table] of from.tables) {
    const target = to.tables.get(name) // both stores have the same collections
    counts[name] = 0
    for (
      let entries = await table.entries();
      entries.length > 0;
      entries = await table.entries(entries.at(-1))
    ) {
      const copied = await Promise.all(
        entries.map(async ({ owner, key, text }) => target?.create(owner, key, text)),
      )
      const different = entries.find(({ text }, at) => copied[at] !== text)
      if (different) throw new Error(`${describe(name, different)} differs`)
      counts[name] += entries.length
    }
  }
  return counts
}

function describe(name: string, { owner, key }: Entry): string {
  return name === ACCESS_TOKENS ? `the token ${key}` : `${name}: ${key} of "${owner}"`
}
