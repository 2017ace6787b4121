// Prints a welcome when the service listens. It goes to standard error, because the log must never hold a token.
import { writeSync } from 'node:fs'
import { resolve } from 'node:path'
import { createToken } from './auth/access-tokens.ts'
import { type Config, variables } from './config.ts'
import type { Store } from './store/store.ts'

/**
 * Says where the data, the docs and the tokens are.
 * @param address where the service listens
 */
export async function printWelcome({ DATABASE_URL, DOCS }: Config, store: Store, address: string): Promise<void> {
  const at = 'file' in DATABASE_URL ? resolve(DATABASE_URL.file) : `PostgreSQL, ${withoutUser(DATABASE_URL.url)}`
  // The commands need the same DATABASE_URL. That of PostgreSQL may hold a password.
  const url = 'file' in DATABASE_URL ? `sqlite:${DATABASE_URL.file}` : ''
  const setting = ['', variables.DATABASE_URL[0]].includes(url) ? '' : `DATABASE_URL='${url}' `
  // Only the first items are counted: to count all of them may take long.
  const counts = [...store.tables].map(async ([name, table]) => {
    const some = await table.entries()
    const isMore = some.length > 0 && (await table.entries(some.at(-1))).length > 0
    return `${name}: ${some.length}${isMore ? ' or more' : ''}`
  })
  print(`
  Data    ${at} (${(await Promise.all(counts)).join(', ')})
  Docs    ${address}${DOCS === 'on' ? '/docs/' : '/openapi.yaml'}
  Token   ${setting}npm run token -- issue <name>
`)
}

/** Issues a token for the caller `demo` if the store is empty, and prints a command with it. */
export async function printDemoToken(store: Store, address: string): Promise<void> {
  if (!(await store.isEmpty())) return
  const { token, stored } = createToken('demo')
  await store.addToken(stored)
  print(`\nA token for the caller "demo". Try:\n\n  curl -H 'Authorization: Bearer `, token, `' ${address}/plants\n\n`)
  token.fill(0) // so that no core dump holds it
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
