// Prints a banner when the service listens. It goes to standard error: the log on standard output
// must never hold a token.
import { resolve } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { FastifyInstance } from 'fastify'
import { accessTokens, createToken } from '../auth/access-tokens.ts'
import { type Config, readConfig } from '../config.ts'
import type { Operation, SecurityScheme } from '../contract/compiled.ts'
import type { Contract } from '../contract/contract.ts'
import { takesTokens } from '../contract/guarded-schemes.ts'
import type { Product } from '../define-product.ts'
import { isTerminal } from '../ops/log.ts'
import { shellString, shellWord } from '../ops/shell.ts'
import { printError } from '../ops/terminal.ts'
import { MAX_COUNT, type Store } from '../store.ts'

/**
 * Prints the addresses of the docs and, behind a prefix, of the operations; with a store also the
 * place of the data and the command for tokens. The first time, it issues a token, too. In
 * production it prints nothing secret, and nothing at all if no terminal reads the output.
 */
export async function printBanner(
  product: Product,
  config: Config,
  store: Store | undefined,
  { contract, listeningOrigin }: FastifyInstance,
): Promise<void> {
  const isProduction = config.NODE_ENV === 'production'
  if (isProduction && !isTerminal) return
  const address = listeningOrigin
    .replace('//0.0.0.0:', '//127.0.0.1:')
    .replace('//[::]:', '//[::1]:')
  const api = contract.prefix === '' ? [] : [`  API     ${address}${contract.prefix}`]
  const docs = `  Docs    ${address}${config.DOCS === 'on' ? '/docs/' : '/openapi.yaml'}`
  if (store === undefined) {
    printError(['', ...api, docs])
    return
  }
  const { DATABASE_URL: database } = config
  const items = await countItems(store, product)
  const data = `  Data    ${placeOf(database)}${items === '' ? '' : ` (${items})`}`
  const tokens = `  Token   ${variableFor(product, database)}npm run token -- issue <name>`
  printError(['', data, ...api, docs, tokens])
  if (isProduction || 'url' in database) return
  if (await store.isEmpty()) await printFirstToken(product, store, findRequest(contract, address))
}

/**
 * Describes where the data is. A URL of PostgreSQL may hold a password: only its hosts are shown.
 */
function placeOf(database: Config['DATABASE_URL']): string {
  if ('file' in database) return resolve(database.file)
  const [, hosts = ''] = /^[a-z]+:\/\/(?:[^/?#]*@)?([^/?#]*)/.exec(database.url) ?? []
  return `PostgreSQL, ${hosts}`
}

/**
 * The variable needed by a command to use the same file; empty for the default file, and for
 * PostgreSQL.
 */
function variableFor({ name }: Product, database: Config['DATABASE_URL']): string {
  const isDefault = isDeepStrictEqual(database, readConfig(name, {}).DATABASE_URL)
  return isDefault || 'url' in database
    ? ''
    : `DATABASE_URL=${shellString(`sqlite:${database.file}`)} `
}

/** Issues a token for the caller "demo", and prints it in a command. */
async function printFirstToken(
  { tokenPrefix }: Product,
  store: Store,
  command: TokenRequest | undefined,
): Promise<void> {
  if (command === undefined) return
  const { token, stored } = createToken(tokenPrefix, 'demo')
  await accessTokens(store).add(stored)
  const line = `curl -H ${shellString(command.header + token)} ${shellWord(command.url)}`
  printError(['', 'A token for the caller "demo". Try:', '', `  ${line}`, ''])
}

/**
 * Describes the number of items in each collection, up to {@link MAX_COUNT}: counting all may take
 * long.
 */
async function countItems(store: Store, { collections }: Product): Promise<string> {
  const counts = Object.entries(await store.counts())
  return counts
    .filter(([name]) => Object.hasOwn(collections, name))
    .map(([name, count]) => `${name}: ${count}${count < MAX_COUNT ? '' : ' or more'}`)
    .join(', ')
}

interface TokenRequest {
  /** The header without its token. */
  readonly header: string
  readonly url: string
}

/** Finds a request for people to try: the first operation that needs only a token in a header. */
function findRequest({ operations, product }: Contract, address: string): TokenRequest | undefined {
  for (const operation of operations) {
    const scheme = schemeOfSimple(operation)
    if (scheme === undefined || !takesTokens(scheme, product)) continue
    const header = scheme.type === 'bearer' ? 'Authorization: Bearer ' : `${scheme.key}: `
    return { header, url: address + operation.path }
  }
  return undefined
}

/**
 * The security scheme of a GET operation that needs only credentials in one header, without scopes.
 */
function schemeOfSimple({ method, parameters, security }: Operation): SecurityScheme | undefined {
  if (method !== 'GET' || parameters.some(({ required }) => required)) return undefined
  const [requirements = []] = security
  const [requirement] = requirements
  if (requirement === undefined || requirements.length > 1) return undefined
  const { scheme, scopes } = requirement
  return scheme.in === 'header' && scopes.length === 0 ? scheme : undefined
}
