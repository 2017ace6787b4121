// Prints a banner when the service listens, to standard error: standard output is the log, which must never hold a token.
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
 * Says where the docs are, and the operations, if their path is not the root; with a store also where the data and the tokens
 * are. The first time, it issues a token, too. In production it prints nothing secret, and nothing at all where only a program
 * reads the output.
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
  if (await store.isEmpty()) await printFirstToken(product, store, findCommand(contract, address))
}

/** Where the data is. The address of PostgreSQL may hold a password: only its host is shown. */
function placeOf(database: Config['DATABASE_URL']): string {
  if ('file' in database) return resolve(database.file)
  const [, hosts = ''] = /^[a-z]+:\/\/(?:[^/?#]*@)?([^/?#]*)/.exec(database.url) ?? []
  return `PostgreSQL, ${hosts}`
}

/** The variable that a command needs for the same file; none for the default file, and for PostgreSQL. */
function variableFor({ name }: Product, database: Config['DATABASE_URL']): string {
  const isDefault = isDeepStrictEqual(database, readConfig(name, {}).DATABASE_URL)
  return isDefault || 'url' in database
    ? ''
    : `DATABASE_URL=${shellString(`sqlite:${database.file}`)} `
}

/** Issues a token for the caller demo, and prints it in a command. */
async function printFirstToken(
  { tokenPrefix }: Product,
  store: Store,
  command: Command | undefined,
): Promise<void> {
  if (command === undefined) return
  const { token, stored } = createToken(tokenPrefix, 'demo')
  await accessTokens(store).add(stored)
  const line = `curl -H ${shellString(command.header + token)} ${shellWord(command.url)}`
  printError(['', 'A token for the caller "demo". Try:', '', `  ${line}`, ''])
}

/** How many items there are in each collection. To count all of them may take long. */
async function countItems(store: Store, { collections }: Product): Promise<string> {
  const counts = Object.entries(await store.counts())
  return counts
    .filter(([name]) => Object.hasOwn(collections, name))
    .map(([name, count]) => `${name}: ${count}${count < MAX_COUNT ? '' : ' or more'}`)
    .join(', ')
}

/** A request with a token. */
interface Command {
  /** The header, up to the token. */
  readonly header: string
  readonly url: string
}

/** A command for the first operation that needs nothing but a token in a header. */
function findCommand({ operations, product }: Contract, address: string): Command | undefined {
  for (const operation of operations) {
    const scheme = schemeOfSimple(operation)
    if (scheme === undefined || !takesTokens(scheme, product)) continue
    const header = scheme.type === 'bearer' ? 'Authorization: Bearer ' : `${scheme.key}: `
    return { header, url: address + operation.path }
  }
  return undefined
}

/** The security scheme of an operation that needs nothing but credentials in one header, without scopes. */
function schemeOfSimple({ method, parameters, security }: Operation): SecurityScheme | undefined {
  if (method !== 'GET' || parameters.some(({ required }) => required)) return undefined
  const [requirements = []] = security
  const [requirement] = requirements
  if (requirement === undefined || requirements.length > 1) return undefined
  const { scheme, scopes } = requirement
  return scheme.in === 'header' && scopes.length === 0 ? scheme : undefined
}
