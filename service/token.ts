import { createHash, randomBytes } from 'node:crypto'
import { parseArgs } from 'node:util'
import { crc32 } from 'node:zlib'
import { readConfig } from './config.ts'
import { openStore, type Store, type StoredToken } from './store.ts'

// 160 random bits and their CRC-32, in hexadecimal, behind a prefix that scanners for secrets can look for.
const TOKEN = /^plant_([0-9a-f]{40})([0-9a-f]{8})$/
const CALLER = /^[\w.@-]{1,64}$/
const DURATION = /^([1-9]\d{0,5})([smhd])$/
const MILLISECONDS = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** What the person at the command line got wrong. */
class UsageError extends Error {
  override readonly name = 'UsageError'
}

/**
 * Issues an access token.
 * @param caller whom it stands for: 1 to 64 letters, digits and `_.@-`
 * @param lifetime milliseconds until it expires; never, if absent
 * @returns the token; the store has only its digest
 * @throws {StoreUnavailable}
 */
export async function issueToken(store: Store, caller: string, lifetime?: number): Promise<string> {
  const random = randomBytes(20).toString('hex')
  const token = `plant_${random}${checksum(random)}`
  const digest = digestOf(token)
  const created = new Date()
  const expires = lifetime === undefined ? {} : { expires: new Date(created.getTime() + lifetime) }
  await store.addToken({ id: digest.toString('hex', 0, 8), caller, created, ...expires }, digest)
  return token
}

/**
 * Whom an access token stands for; undefined if it is none, was revoked, or has expired.
 * @throws {StoreUnavailable}
 */
export async function callerOf(store: Store, token: string): Promise<string | undefined> {
  const [, random, sum] = TOKEN.exec(token) ?? []
  if (random === undefined || sum !== checksum(random)) return undefined
  const found = await store.findToken(digestOf(token))
  return found?.expires === undefined || found.expires > new Date() ? found?.caller : undefined
}

function checksum(text: string): string {
  return crc32(text).toString(16).padStart(8, '0')
}

function digestOf(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}

const USAGE = `usage: token issue <caller> [--expires <number>s|m|h|d]
       token list
       token revoke <token id>`

/**
 * Reads a command line.
 * @param words those after the name of the program, without options
 * @param expires the value of --expires
 * @returns what it asks for, which gives the text for standard output
 * @throws {UsageError}
 */
function commandOf(words: readonly string[], expires: string | undefined): (store: Store) => Promise<string> {
  const [command, argument, ...more] = words
  if (command === 'issue' && argument !== undefined && more.length === 0) {
    if (!CALLER.test(argument)) throw new UsageError('a caller is 1 to 64 letters, digits and _.@-')
    const lifetime = expires === undefined ? undefined : duration(expires)
    return (store) => issueToken(store, argument, lifetime)
  }
  if (command === 'list' && words.length === 1 && expires === undefined) {
    return async (store) => (await store.listTokens()).map(line).join('\n')
  }
  if (command === 'revoke' && argument !== undefined && more.length === 0 && expires === undefined) {
    return async (store) => {
      if (await store.deleteToken(argument)) return ''
      throw new UsageError(`no token has the id ${argument}`)
    }
  }
  throw new UsageError(USAGE)
}

function line({ id, caller, created, expires }: StoredToken): string {
  return [id, caller, created.toISOString(), expires?.toISOString() ?? 'never'].join('\t')
}

function duration(text: string): number {
  const [, count, unit] = DURATION.exec(text) ?? []
  if (unit === 's' || unit === 'm' || unit === 'h' || unit === 'd') return Number(count) * MILLISECONDS[unit]
  throw new UsageError(`--expires is a number with s, m, h or d behind it, such as 90d, not "${text}"`)
}

if (import.meta.main) {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: { expires: { type: 'string' } },
    })
    const command = commandOf(positionals, values.expires)
    const store = await openStore(readConfig(process.env).DATABASE_URL, false)
    const output = await command(store).finally(() => store.close())
    if (output !== '') console.log(output)
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
    process.exitCode = 1
  }
}
