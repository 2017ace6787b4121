import { pino } from 'pino'
import type { Test } from 'tap'
import { loadCompiler } from '@plant-store/compiler'
import { buildApp } from '../../packages/engine/src/app.ts'
import { readConfig } from '../../packages/engine/src/config.ts'
import { openOwn } from '../../packages/engine/src/programs/opened.ts'
import { notWritten, type Product } from '@plant-store/engine'
import { type Answer, type Call, request, toAnswer } from '../../packages/testing/src/http/call.ts'
import { fields } from '../../packages/testing/src/json/fields.ts'
import { contractOf } from '../../packages/testing/src/contract/contract.ts'
import { withCredentials } from '../../packages/testing/src/contract/credentials.ts'
import { assertDocumented } from '../../packages/testing/src/answers/documented.ts'
import { operationOf } from '../../packages/testing/src/contract/paths.ts'
import { startService } from './process.ts'
import { exchange, readResponses } from '../../packages/testing/src/http/responses.ts'
import { product as own } from './product/product.ts'
import { openTestStore } from './stores.ts'
import { issueTokenIn, issueTokenOf } from './tokens.ts'

export {
  type Answer,
  type Call,
  request,
  statusesOf,
} from '../../packages/testing/src/http/call.ts'

export type Service = Awaited<ReturnType<typeof build>>

/** Starts a product, by default that of the tests, on a temporary database. Both close when the test ends. */
export async function build(
  t: Test,
  environment: Record<string, string> = {},
  product: Product = own,
) {
  const config = readConfig(product.name, {
    DATABASE_URL: `sqlite:${t.testdir()}/plants.db`,
    ...environment,
  })
  const store = await openTestStore(config.DATABASE_URL, { settings: config, product })
  const log: Record<string, unknown>[] = []
  const lines = { write: (line: string) => void log.push(JSON.parse(line)) }
  const logger = pino({ level: config.LOG_LEVEL }, lines)
  const { opened } = await openOwn(product, logger)
  let services: readonly object[] = []
  const observed: Product = {
    ...product,
    services: (collections, own) => {
      services = product.services(collections, own)
      return services
    },
  }
  const app = await buildApp({
    product: observed,
    loadCompiler,
    config,
    store,
    opened,
    log: logger,
  })
  await app.listen({ port: 0, host: '127.0.0.1' })
  t.teardown(async () => {
    app.server.closeAllConnections()
    await app.close()
    await opened.close?.()
    await store.close()
  })
  const port = Number(new URL(app.listeningOrigin).port)
  return {
    product,
    app,
    store,
    port,
    /** Whether an operation has a method, and no stub of one. */
    isWritten: ({ method, path }: { method: string; path: string }) => {
      const { operations, prefix } = app.contract
      const paths = [path, `${prefix}${path}`]
      const compiled = operations.find((own) => own.method === method && paths.includes(own.path))
      return !services.some((service) => Reflect.get(service, compiled?.id ?? '') === notWritten)
    },
    /** The lines of its log. */
    log,
    /** Issues a token, with all scopes of the contract. @param lifetime in milliseconds */
    token: async (caller: string, lifetime?: number) =>
      issueTokenOf(product, store, caller, lifetime, (await contractOf(product)).scopes),
    /** Sends a request. The test fails if the contract does not document the answer. */
    call: (request: Call) => withoutInternalErrors(log, call(port, request, product), request),
    /** Writes bytes to a socket; a number pauses for milliseconds. Reads `count` answers, or all until the socket closes. */
    raw: (count: number, ...parts: Parts) => {
      const sent = { method: 'raw', path: parts.join('').slice(0, 100) }
      return withoutInternalErrors(log, raw(product, port, count, parts), sent)
    },
  }
}

/** Starts the tests' product as a process, on a new file in which joe has a token. */
export async function startOnNewFile(
  t: Test,
  environment: Record<string, string> = {},
  command?: readonly string[],
) {
  const file = `${t.testdir()}/plants.db`
  const token = await issueTokenIn({ file })
  return {
    ...(await startService(t, { DATABASE_URL: `sqlite:${file}`, ...environment }, command)),
    file,
    token,
  }
}

/** Returns the answers. If one is a 500 or was cut off, the test fails with the error in the log. */
async function withoutInternalErrors<Answers extends Answer | Answer[]>(
  log: readonly Record<string, unknown>[],
  answers: Promise<Answers>,
  { method = 'GET', path, failing = false }: Call,
): Promise<Answers> {
  const logged = () =>
    String(fields(log.findLast(({ err }) => err !== undefined)?.['err'])['stack'])
  const received = await answers.catch((error: unknown) => {
    if (!(error instanceof Error && 'code' in error && error.code === 'ECONNRESET')) throw error
    throw new Error(`${method} ${path} was broken off: ${logged()}`, { cause: error })
  })
  if (failing || [received].flat().every(({ status }) => status !== 500)) return received
  throw new Error(`${method} ${path} answered 500: ${logged()}`)
}

/** Sends a request to a port. The test fails if the contract does not document the answer. */
export async function call(port: number, what: Call, product: Product = own): Promise<Answer> {
  const contract = await contractOf(product)
  const { credentials } = operationOf(contract, what.method ?? 'GET', what.path) ?? {}
  const { token, ...others } = what
  const answer = await request(
    port,
    credentials && token ? withCredentials(others, credentials, token) : what,
  )
  assertDocumented(contract, what.method ?? 'GET', what.path, answer)
  return answer
}

type Parts = (string | Buffer | number)[]

async function raw(product: Product, port: number, count: number, parts: Parts): Promise<Answer[]> {
  const requests = [
    ...parts.join('').matchAll(/([A-Z]+) +(?:https?:\/\/[^/]+)?([^\s#]+)\S* HTTP\/\d\.\d\r\n/g),
  ]
  const received = await exchange(port, parts, count)
  const contract = await contractOf(product)
  let index = 0
  return readResponses(received).map(({ status, headers, text }) => {
    const [, method = '', path = ''] = requests[status === 100 ? index : index++] ?? []
    const answer = toAnswer(status, headers, text)
    assertDocumented(contract, method, path, answer)
    return answer
  })
}
