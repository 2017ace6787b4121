import { readFileSync } from 'node:fs'
import { type Caller, firstId, listOf, plantOf, type Sizes, type Tokens } from './data.ts'
import { ID, type Load, run } from './load.ts'
import type { Running } from './running.ts'

/** A kind of request that is measured, and its answer. */
export interface Case {
  readonly name: string
  readonly caller: Caller | 'many'
  readonly method: Load['method']
  readonly path: string
  readonly body?: string
  readonly status: number
  readonly answer: string
  /** How many plants one request adds. */
  readonly adds: -1 | 0 | 1
  /** The numbers of connections to measure it with, and how long. */
  readonly connections: readonly number[]
  readonly seconds: number
}

/** What one server did with one case for some time. */
export interface Sample {
  /** Requests per second. */
  readonly rate: number
  /** Milliseconds that half of the answers took at most, and 99 of 100. */
  readonly p50: number
  readonly p99: number
  /** Milliseconds of processor time that the server took for 1,000 requests. */
  readonly cpu: number
}

/** An answer was wrong, or a write was lost: what was measured says nothing. */
export class Invalid extends Error {
  override readonly name = 'Invalid'
}

/** All cases, for callers who have so many plants. */
export function casesOf({ small, large, many }: Sizes) {
  const often = { connections: [1, 32], seconds: 1 } as const
  const list = { ...often, method: 'GET', status: 200, adds: 0 } as const
  const thousands = (count: number) => count.toLocaleString('en')
  const { name, tag } = plantOf(1)
  const twenty = { ...list, path: '/plants?limit=20', answer: listOf(20) }
  return [
    { ...twenty, name: `list of 20 among ${thousands(small)}`, caller: 'small' },
    { ...twenty, name: `list of 20 among ${thousands(large)}`, caller: 'large' },
    { ...twenty, name: `list of 20, ${thousands(many)} callers in turn`, caller: 'many' },
    {
      ...often,
      name: 'create',
      caller: 'creator',
      method: 'POST',
      path: '/plants',
      body: `{"id":${ID},"name":"${name}","tag":"${tag}"}`,
      status: 200,
      answer: JSON.stringify({ name, tag }),
      adds: 1,
    },
    {
      ...often,
      name: 'delete',
      caller: 'deleter',
      method: 'DELETE',
      path: `/plants/${ID}`,
      status: 204,
      answer: '',
      adds: -1,
    },
    {
      ...list,
      name: `list of ${thousands(small)}`,
      caller: 'small',
      path: '/plants',
      answer: listOf(small),
    },
  ] as const satisfies Case[]
}

/** The next id to create or delete, or the number of the next token of many, by the tokens of the server's database. */
const nextIds = new WeakMap<Tokens, Record<string, number>>()

/**
 * Puts a load on a server, and checks what it answers and keeps.
 * @throws {Invalid}
 */
export async function measure(
  server: Running,
  { name, caller, method, path, body, status, answer, adds, seconds }: Case,
  connections: number,
): Promise<Sample> {
  const { port, count, tokens } = server
  const fail = (what: string) => {
    throw new Invalid(`${server.name}, ${name}, ${connections} connections: ${what}`)
  }
  const token = caller === 'many' ? { token: ID, tokens: tokens.many } : { token: tokens[caller] }
  if (adds === 0) {
    const valid = caller === 'many' ? readFileSync(tokens.many, 'utf8').split('\n')[0] : tokens[caller]
    const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers: { authorization: `Bearer ${valid}` } })
    if (response.status !== status || (await response.text()) !== answer) fail('the list is wrong')
  }
  const ids = nextIds.get(tokens) ?? {}
  nextIds.set(tokens, ids)
  const key = `${method} ${caller}`
  const id = ids[key] ?? firstId(caller)
  const keptBefore = await count?.(caller)
  const cpuBefore = server.cpu()
  const length = Buffer.byteLength(answer)
  const load = { port, connections, seconds, method, path, ...(body === undefined ? {} : { body }), ...token, id }
  const { right, wrong, ...times } = await run({ ...load, status, length })
  const cpu = server.cpu() - cpuBefore
  ids[key] = id + right + wrong
  if (wrong > 0) fail(`${wrong} of ${right + wrong} answers were wrong`)
  if (adds !== 0 && count !== undefined) {
    const changed = adds * ((await count(caller)) - Number(keptBefore))
    if (changed !== right) fail(`of ${right} writes ${changed} were kept`)
  }
  return { rate: right / times.seconds, p50: times.p50, p99: times.p99, cpu: (cpu * 1000) / right }
}

/** How a server gives one list of very many plants. */
export interface LongList {
  /** Milliseconds until the first byte of the body. */
  readonly firstByte: number
  /** Milliseconds until the last one. */
  readonly time: number
  /** Bytes of memory that the server took more than before. */
  readonly memory: number
  /** Milliseconds that 99 of 100 lists of 20 took at most, which were asked for one by one meanwhile. */
  readonly p99: number
}

/**
 * Reads the list of all plants of the caller who has most, again and again while another caller lists 20.
 * @throws {Invalid}
 */
export async function measureLongList(server: Running, meanwhile: Case, length: number): Promise<LongList> {
  const before = server.memory()
  server.peak()
  const { firstByte, time } = await readLongList(server, length)
  const load = { over: false }
  const reading = (async () => {
    while (!load.over) await readLongList(server, length)
  })()
  const { p99 } = await measure(server, { ...meanwhile, seconds: 2 }, 1).finally(() => (load.over = true))
  await reading
  return { firstByte, time, memory: server.peak() - before, p99 }
}

async function readLongList({ name, port, tokens }: Running, length: number) {
  const begun = performance.now()
  const headers = { authorization: `Bearer ${tokens.large}` }
  const { body }: { body: AsyncIterable<Uint8Array> | null } = await fetch(`http://127.0.0.1:${port}/plants`, {
    headers,
  })
  let [firstByte, bytes] = [0, 0]
  for await (const chunk of body ?? []) {
    if (bytes === 0) firstByte = performance.now() - begun
    bytes += chunk.byteLength
  }
  if (bytes !== length) throw new Invalid(`${name}: the longest list has ${bytes} bytes, not ${length}`)
  return { firstByte, time: performance.now() - begun }
}
