// `npm run token -- <words>`: issues, lists and revokes access tokens.
import {
  accessTokens,
  type AccessTokens,
  createToken,
  idOf,
  type StoredToken,
} from '../auth/access-tokens.ts'
import { oneOf, readWords, runCommand } from './command.ts'
import { readConfig } from '../config.ts'
import type { Product } from '../define-product.ts'
import { printError, visible } from '../ops/terminal.ts'
import { type OpenStore, storedCollections } from '../store.ts'

const USAGE = `usage: token issue <caller> [--expires <time>] [--scope <scopes>]   prints a new access token
       token list                prints a line for each token: token id, caller, created, expires, scopes
       token revoke <token id>   makes a token invalid

  <caller>   1 to 64 letters, digits and _.@-, the first one not -
  <time>     how long the token is valid: a number with its unit, such as 30s, 15m, 12h or 90d, or never; 90d if absent
  <scopes>   what the token allows where an operation requires scopes, with spaces between: "items:read items:write"`

const ISSUE_OPTIONS = {
  expires: { type: 'string' },
  scope: { type: 'string', multiple: true },
} as const
const MILLISECONDS: Readonly<Record<string, number>> = {
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
}

export function token(product: Product): Promise<void> {
  return runCommand(USAGE, async ([command, ...words]) => {
    openStoreOf(product)
    const action = oneOf(command, ['issue', 'list', 'revoke'])
    if (action === 'issue') return issue(product, words)
    const [id = ''] = readWords(words, action === 'list' ? [] : ['<token id>'], {}).args
    return withTokens(product, async (tokens) => {
      if (action === 'list') return (await tokens.list()).map(toLine)
      if (!(await tokens.remove(id))) throw new Error(`no token has the id ${id}`)
      return []
    })
  })
}

async function issue(product: Product, words: string[]): Promise<string[]> {
  const { args, values } = readWords(words, ['<caller>'], ISSUE_OPTIONS)
  const [caller] = args
  checkWord(
    'the caller',
    caller,
    /^[\w.@][\w.@-]{0,63}$/,
    '1 to 64 letters, digits and _.@-, the first one not -',
  )
  const { expires = '90d', scope = [] } = values
  checkWord(
    '--expires',
    expires,
    /^(never|[1-9]\d{0,5}[smhd])$/,
    'a time such as 30s, 15m, 12h or 90d, or never',
  )
  const lifetime =
    expires === 'never' ? Infinity : parseInt(expires) * (MILLISECONDS[expires.slice(-1)] ?? NaN)
  const scopes = scope.flatMap((words) => words.split(' ')).filter(Boolean)
  // RFC 6749, section 3.3
  for (const words of scope)
    checkWord(
      '--scope',
      words,
      /^ *[!#-[\]-~][ !#-[\]-~]*$/,
      'visible ASCII characters without " and \\',
    )
  const { token, stored } = createToken(product.tokenPrefix, caller, lifetime, scopes)
  await withTokens(product, (tokens) => tokens.add(stored))
  const end = stored.expires ? `expires on ${stored.expires.toISOString()}` : 'never expires'
  printError([`The token for ${caller} ${end}. It can't be shown again.`])
  return [token]
}

function checkWord(name: string, word: string, pattern: RegExp, values: string): void {
  if (!pattern.test(word)) throw new Error(`${name} "${word}" must be ${values}`)
}

function toLine(token: StoredToken): string {
  const { caller, created, expires, scopes } = token
  const end = expires?.toISOString() ?? 'never'
  const columns = [idOf(token), caller, created.toISOString(), end, scopes.join(' ')]
  return columns.map(visible).join('\t').trimEnd()
}

/** @throws {Error} if the product has no store */
function openStoreOf({ store }: Product): OpenStore {
  if (store === undefined) throw new Error('the product has no store for access tokens')
  return store
}

/** Opens the store for one action, even while the service uses it. */
async function withTokens<Result>(
  product: Product,
  action: (tokens: AccessTokens) => Promise<Result>,
): Promise<Result> {
  const config = readConfig(product.name)
  const store = await openStoreOf(product)({
    database: config.DATABASE_URL,
    collections: storedCollections(product),
    isExclusive: false,
    settings: config,
  })
  return action(accessTokens(store)).finally(() => store.close())
}
