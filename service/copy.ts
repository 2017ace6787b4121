// `node service/copy.ts sqlite:<file>` copies everything from there to the store that DATABASE_URL names.
import { existsSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import { readConfig } from './config.ts'
import { type Entry, type Store } from './store/store.ts'
import { reasonOf } from './errors.ts'
import { openStore } from './store/open.ts'

/**
 * Copies all access tokens and plants. It may be repeated: what is there already is left as it is.
 * @returns how many there are
 * @throws {Error} if the store that is copied to has something else in the place of one, or more than is copied
 */
export async function copyStore(from: Store, to: Store): Promise<{ tokens: number; plants: number }> {
  for (const token of await from.listTokens()) {
    const found = await to.findToken(token.digest)
    if (found === undefined) await to.addToken(token)
    else if (!isDeepStrictEqual(found, token)) throw new Error(`the token ${token.id} differs`)
  }
  for await (const entries of batchesOf(from)) {
    await Promise.all(
      entries.map(async ({ owner, id, plant }) => {
        const { name, tag } = await to.create(owner, id, plant)
        if (name !== plant.name || tag !== plant.tag) throw new Error(`the plant ${id} of "${owner}" differs`)
      }),
    )
  }
  const [source, copy] = [await count(from), await count(to)]
  if (source.plants !== copy.plants || source.tokens !== copy.tokens) {
    throw new Error(`there are ${inWords(copy)} now, and ${inWords(source)} were to be copied`)
  }
  return copy
}

async function* batchesOf(store: Store): AsyncGenerator<Entry[]> {
  for (let entries = await store.entries(); entries.length > 0; entries = await store.entries(entries.at(-1))) {
    yield entries
  }
}

async function count(store: Store): Promise<{ tokens: number; plants: number }> {
  let plants = 0
  for await (const entries of batchesOf(store)) plants += entries.length
  return { plants, tokens: (await store.listTokens()).length }
}

const inWords = ({ tokens, plants }: { tokens: number; plants: number }) => `${plants} plants and ${tokens} tokens`

if (import.meta.main) {
  const opened: Store[] = []
  try {
    const [, file] = /^sqlite:(.+)$/.exec(process.argv.slice(2).join(' ')) ?? []
    if (file === undefined) throw new Error('usage: copy sqlite:<file>')
    if (!existsSync(file)) throw new Error(`there is no file ${file}`)
    const config = readConfig()
    // Nobody else may write to it meanwhile: it is opened as a service does.
    const from = await openStore({ file })
    opened.push(from)
    const to = await openStore(config.DATABASE_URL, true, config)
    opened.push(to)
    console.log(`${inWords(await copyStore(from, to))} are copied`)
  } catch (error) {
    console.error(reasonOf(error))
    process.exitCode = 1
  } finally {
    for (const store of opened) await store.close()
  }
}
