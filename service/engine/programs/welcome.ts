// Prints a welcome when the service listens. It goes to standard error, because the log must never hold a token.
import { resolve } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { FastifyInstance } from 'fastify'
import { accessTokens, createToken } from '../auth/access-tokens.ts'
import { type Config, readConfig } from '../config.ts'
import type { Contract } from '../contract/contract.ts'
import { takesTokens } from '../contract/security.ts'
import type { Product } from '../define-product.ts'
import { isTerminal } from '../ops/log.ts'
import { printError } from '../ops/terminal.ts'
import { MAX_COUNT, type Store } from '../store.ts'

/**
 * Says where the docs are, and the operations, if their path is not the root; with a store also where the data and the tokens
 * are. The first time, it issues a token, too. In production it prints nothing secret, and nothing at all where only a program
 * reads the output.
 */
export async function printWelcome(
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
  const { DATABASE_URL } = config
  const file = 'file' in DATABASE_URL ? DATABASE_URL.file : undefined
  // The commands need the same DATABASE_URL. That of PostgreSQL may hold a password.
  const usual = readConfig(product.name, {}).DATABASE_URL
  const isUsual = file === undefined || isDeepStrictEqual(DATABASE_URL, usual)
  const place =
    'url' in DATABASE_URL
      ? `PostgreSQL, ${new URL(DATABASE_URL.url).host}`
      : resolve(DATABASE_URL.file)
  const data = `  Data    ${place} (${await countItems(store, product)})`
  const variable = isUsual ? '' : `DATABASE_URL='sqlite:${file}' `
  printError(['', data, ...api, docs, `  Token   ${variable}npm run token -- issue <name>`])
  if (isProduction || file === undefined || !(await store.isEmpty())) return
  await printFirstToken(product, store, findCommand(contract, address))
}

/** Issues a token for the caller demo, and prints it in a command. */
async function printFirstToken(
  { tokenPrefix }: Product,
  store: Store,
  command: ReturnType<typeof findCommand>,
): Promise<void> {
  if (command === undefined) return
  const { token, stored } = createToken(tokenPrefix, 'demo')
  await accessTokens(store).add(stored)
  const tried = `  ${command[0]}${token}${command[1]}`
  printError(['', 'A token for the caller "demo". Try:', '', tried, ''])
}

/** How many items there are in each collection. To count all of them may take long. */
async function countItems(store: Store, { collections }: Product): Promise<string> {
  const counts = Object.entries(await store.counts())
  return counts
    .filter(([name]) => Object.hasOwn(collections, name))
    .map(([name, count]) => `${name}: ${count}${count < MAX_COUNT ? '' : ' or more'}`)
    .join(', ')
}

/** A command for the first operation that needs nothing but a token in a header: its text before and after the token. */
function findCommand(
  { operations, product }: Contract,
  address: string,
): [before: string, after: string] | undefined {
  for (const { method, path, parameters, security } of operations) {
    const [[requirement, ...others] = []] = security
    if (
      method !== 'GET' ||
      parameters.some(({ required }) => required) ||
      !requirement ||
      others.length > 0
    )
      continue
    const { scheme, scopes } = requirement
    if (scheme.in !== 'header' || scopes.length > 0 || !takesTokens(scheme, product)) continue
    const header = scheme.type === 'bearer' ? 'Authorization: Bearer' : `${scheme.key}:`
    return [`curl -H '${header} `, `' ${address}${path}`]
  }
  return undefined
}
