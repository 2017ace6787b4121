// `npm run token -- <words>`: issues, lists and revokes access tokens.
import { createToken } from '../auth/access-tokens.ts'
import { oneOf, readWords, runCommand } from './command.ts'
import { readConfig } from '../config.ts'
import type { Product } from '../define-product.ts'
import { openStore } from '../store/open.ts'
import type { Store, StoredToken } from '../store/store.ts'

const USAGE = `usage: token issue <caller> [--expires <time>] [--scope <scopes>]   prints a new access token
       token list                prints a line for each token: token id, caller, created, expires, scopes
       token revoke <token id>   makes a token invalid

  <caller>   1 to 64 letters, digits and _.@-, the first one not -
  <time>     how long the token is valid: a number with its unit, such as 30s, 15m, 12h or 90d, or never; 90d if absent
  <scopes>   what the token allows where an operation requires scopes, with spaces between: "items:read items:write"`

const ISSUE_OPTIONS = { expires: { type: 'string' }, scope: { type: 'string', multiple: true } } as const
const MILLISECONDS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** Runs the command. */
export function token(product: Product): Promise<void> {
  return runCommand(USAGE, async ([command, ...words]) => {
    const what = oneOf(command, ['issue', 'list', 'revoke'])
    if (what === 'issue') {
      const { args, values } = readWords(words, ['<caller>'], ISSUE_OPTIONS)
      const caller = checkCaller(args[0])
      const lifetime = values.expires === undefined ? undefined : readTime(values.expires)
      const scopes = (values.scope ?? []).flatMap(readScopes)
      const { token, stored } = createToken(product.tokenPrefix, caller, lifetime, scopes)
      await withStore(product, (store) => store.addToken(stored))
      const end = stored.expires === undefined ? 'never expires' : `expires on ${stored.expires.toISOString()}`
      console.error(`The token for ${caller} ${end}. It can't be shown again.`)
      return token
    }
    const [id = ''] = readWords(words, what === 'list' ? [] : ['<token id>'], {}).args
    if (what === 'list') return (await withStore(product, (store) => store.listTokens())).map(toLine).join('\n')
    if (!(await withStore(product, (store) => store.deleteToken(id)))) throw new Error(`no token has the id ${id}`)
    return undefined
  })
}

function checkCaller(text: string): string {
  if (/^[\w.@][\w.@-]{0,63}$/.test(text)) return text
  throw new Error(`the caller "${text}" must be 1 to 64 letters, digits and _.@-, the first one not -`)
}

/** RFC 6749, section 3.3. */
function readScopes(text: string): string[] {
  const scopes = text.split(' ').filter(Boolean)
  if (scopes.length > 0 && scopes.every((scope) => /^[!#-[\]-~]+$/.test(scope))) return scopes
  throw new Error(`--scope "${text}" must be visible ASCII characters without " and \\, with spaces between scopes`)
}

/** @returns milliseconds */
function readTime(text: string): number {
  if (text === 'never') return Infinity
  const [, count, unit = ''] = /^([1-9]\d{0,5})([smhd])$/.exec(text) ?? []
  if (count !== undefined) return Number(count) * (MILLISECONDS[unit] ?? NaN)
  throw new Error(`--expires "${text}" must be a time such as 30s, 15m, 12h or 90d, or never`)
}

function toLine({ id, caller, created, expires, scopes }: StoredToken): string {
  const end = expires?.toISOString() ?? 'never'
  return [id, caller, created.toISOString(), end, scopes.join(' ')].join('\t').trimEnd()
}

/** Opens the store for one action. The service may use it at the same time. */
async function withStore<Result>(product: Product, action: (store: Store) => Promise<Result>): Promise<Result> {
  const config = readConfig(product.name)
  const store = await openStore(config.DATABASE_URL, product, false, config)
  return action(store).finally(() => store.close())
}
