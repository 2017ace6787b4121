// `npm run token -- <words>`: issues, lists and revokes access tokens.
import { issueToken } from './auth/tokens.ts'
import { readConfig } from './config.ts'
import { reasonOf } from './errors.ts'
import { openStore } from './store/open.ts'
import type { Store, StoredToken } from './store/store.ts'

const USAGE = `usage: token issue <caller> [--expires <time>]   <caller>: 1 to 64 letters, digits and _.@-, no - first
       token list                                <time>: such as 30s, 15m, 12h or 90d
       token revoke <token id>`

const MILLISECONDS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** Each command: the pattern of its words, and what gives the lines for standard output. */
const COMMANDS: [RegExp, (store: Store, match: readonly (string | undefined)[]) => Promise<string[]>][] = [
  [
    /^issue ([\w.@][\w.@-]{0,63})(?: --expires[ =]([1-9]\d{0,5})([smhd]))?$/,
    async (store, [, caller = '', count, unit = '']) => {
      const lifetime = count === undefined ? undefined : Number(count) * (MILLISECONDS[unit] ?? NaN)
      return [await issueToken(store, caller, lifetime)]
    },
  ],
  [/^list$/, async (store) => (await store.listTokens()).map(lineOf)],
  [
    /^revoke (\S+)$/,
    async (store, [, id = '']) => {
      if (await store.deleteToken(id)) return []
      throw new Error(`no token has the id ${id}`)
    },
  ],
]

function lineOf({ id, caller, created, expires }: StoredToken): string {
  return [id, caller, created.toISOString(), expires?.toISOString() ?? 'never'].join('\t')
}

if (import.meta.main) {
  try {
    const words = process.argv.slice(2).join(' ')
    const [pattern, command] = COMMANDS.find(([pattern]) => pattern.test(words)) ?? []
    if (command === undefined) throw new Error(USAGE)
    const config = readConfig(process.env)
    const store = await openStore(config.DATABASE_URL, false, config)
    const lines = await command(store, pattern?.exec(words) ?? []).finally(() => store.close())
    for (const line of lines) console.log(line)
  } catch (error) {
    console.error(reasonOf(error))
    process.exitCode = 1
  }
}
