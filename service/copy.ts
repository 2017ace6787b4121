// `npm run copy -- sqlite:<file>` copies everything from there to the store that DATABASE_URL names.
import { existsSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import { readWords, runCommand } from './command.ts'
import { readConfig } from './config.ts'
import type { Store } from './store/store.ts'
import { openStore } from './store/open.ts'

const USAGE = `usage: copy sqlite:<file>   copies all plants and access tokens from there to the store of DATABASE_URL

  No service may use the file. After an interruption it can be run again.`

/**
 * Copies all access tokens and plants. It may be repeated: it does not change what the target has already.
 * @returns how many were copied
 * @throws {Error} if the target has another token or plant with the same id
 */
export async function copyStore(from: Store, to: Store): Promise<{ tokens: number; plants: number }> {
  const tokens = await from.listTokens()
  for (const token of tokens) {
    const found = await to.findToken(token.digest)
    if (found === undefined) await to.addToken(token)
    else if (!isDeepStrictEqual(found, token)) throw new Error(`the token ${token.id} differs`)
  }
  let plants = 0
  for (let entries = await from.entries(); entries.length > 0; entries = await from.entries(entries.at(-1))) {
    await Promise.all(
      entries.map(async ({ owner, id, plant }) => {
        const { name, tag } = await to.create(owner, id, plant)
        if (name !== plant.name || tag !== plant.tag) throw new Error(`the plant ${id} of "${owner}" differs`)
      }),
    )
    plants += entries.length
  }
  return { tokens: tokens.length, plants }
}

async function run(words: string[]): Promise<string> {
  const [source] = readWords(words, ['sqlite:<file>'], {}).args
  const [, file] = /^sqlite:(.+)$/.exec(source) ?? []
  if (file === undefined) throw new Error(`"${source}" must be sqlite:<file>`)
  if (!existsSync(file)) throw new Error(`there is no file ${file}`)
  const config = readConfig()
  const close = (store: Store) => store.close()
  await using opened = new AsyncDisposableStack()
  // Opened in the same way as by a service, so that no other process can write to it meanwhile.
  const from = opened.adopt(await openStore({ file }), close)
  const to = opened.adopt(await openStore(config.DATABASE_URL, true, config), close)
  const { plants, tokens } = await copyStore(from, to)
  return `${plants} plants and ${tokens} tokens are copied`
}

if (import.meta.main) await runCommand(USAGE, async (words) => console.log(await run(words)))
