// Prints a welcome when the service listens. It goes to standard error, because the log must never hold a token.
import { writeSync } from 'node:fs'
import { resolve } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { createToken } from '../auth/access-tokens.ts'
import { type Config, defaultDatabase } from '../config.ts'
import type { Requirement, SecurityScheme } from '../contract/compiled.ts'
import type { Contract } from '../contract/contract.ts'
import { takesTokens } from '../contract/security.ts'
import type { Product } from '../define-product.ts'
import { isTerminal } from '../ops/log.ts'
import type { Store } from '../store/store.ts'

/**
 * Says where the data, the docs and the tokens are, and the operations, if their path is not the root. The first time, it
 * issues a token, too. In production it prints nothing secret, and nothing at all where only a program reads the output.
 */
export async function printWelcome(
  { name, tokenPrefix }: Product,
  { DATABASE_URL, DOCS, NODE_ENV }: Config,
  store: Store,
  { contract, listeningOrigin }: FastifyInstance,
): Promise<void> {
  const isProduction = NODE_ENV === 'production'
  if (isProduction && !isTerminal) return
  const address = clientAddress(listeningOrigin)
  const file = 'file' in DATABASE_URL ? DATABASE_URL.file : undefined
  // The commands need the same DATABASE_URL. That of PostgreSQL may hold a password.
  const isUsual = file === undefined || `sqlite:${file}` === defaultDatabase(name)
  print(`
  Data    ${'url' in DATABASE_URL ? `PostgreSQL, ${withoutUser(DATABASE_URL.url)}` : resolve(DATABASE_URL.file)} (${await countItems(store)})
${contract.prefix === '' ? '' : `  API     ${address}${contract.prefix}\n`}  Docs    ${address}${DOCS === 'on' ? '/docs/' : '/openapi.yaml'}
  Token   ${isUsual ? '' : `DATABASE_URL='sqlite:${file}' `}npm run token -- issue <name>
`)
  const command = easiestCommand(contract, address)
  if (isProduction || file === undefined || command === undefined || !(await store.isEmpty())) return
  const { token, stored } = createToken(tokenPrefix, 'demo')
  await store.addToken(stored)
  print(`\nA token for the caller "demo". Try:\n\n  ${command.before}`, token, `${command.after}\n\n`)
  token.fill(0) // so that no core dump holds it
}

/** How many items there are in each collection. Only the first ones are counted: to count all of them may take long. */
async function countItems({ tables }: Store): Promise<string> {
  const counts = [...tables].map(async ([name, table]) => {
    const some = await table.entries()
    const isMore = some.length > 0 && (await table.entries(some.at(-1))).length > 0
    return `${name}: ${some.length}${isMore ? ' or more' : ''}`
  })
  return (await Promise.all(counts)).join(', ')
}

/** The options of curl for the credentials of a scheme, before a token. */
const CREDENTIALS: Readonly<Record<SecurityScheme['in'], (scheme: SecurityScheme) => string>> = {
  header: ({ type, key }) => `-H '${type === 'bearer' ? 'Authorization: Bearer' : `${key}:`} `,
  query: ({ key }) => `-G -d '${encodeURIComponent(key)}=`,
  cookie: ({ key }) => `-b '${key}=`,
  connection: () => '',
}

/**
 * The command for the operation that needs a token and the least else, before and after the token. It is a request of the
 * contract. Undefined if no operation needs a token without scopes.
 */
function easiestCommand({ operations, product }: Contract, address: string) {
  const isEasy = ({ scheme, scopes }: Requirement) => scopes.length === 0 && takesTokens(scheme, product)
  const commands = operations.flatMap(({ method, path, parameters, security }) => {
    const [{ scheme } = {}] = security.find((each) => each.length === 1 && each.every(isEasy)) ?? []
    if (scheme === undefined || security.some((each) => each.length === 0)) return []
    const before = `curl ${CREDENTIALS[scheme.in](scheme)}`
    const after = `'${method === 'GET' ? '' : ` -X ${method}`} ${address}${path}`
    const cost = Number(method !== 'GET') * 10 + parameters.filter(({ required }) => required).length
    return [{ before, after, cost }]
  })
  return commands.toSorted((one, two) => one.cost - two.cost)[0]
}

/** @param origin such as `http://0.0.0.0:3000` @returns an address that a client can call */
export function clientAddress(origin: string): string {
  return origin.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:')
}

function withoutUser(url: string): string {
  const { host, pathname } = new URL(url)
  return host + pathname
}

function print(...parts: (string | Buffer)[]): void {
  for (const part of parts) writeSync(2, typeof part === 'string' ? Buffer.from(part) : part)
}
