import { readFileSync } from 'node:fs'
import { ID, type Load, run } from './load.ts'
import type { Running } from './running.ts'
import type { Caller } from './servers.ts'

/** A kind of request that is measured, and its answer. */
export interface Case {
  readonly name: string
  readonly caller: Caller
  readonly method: Load['method']
  readonly path: string
  readonly body?: string
  readonly status: number
  readonly answer: string
  /** How many plants one request adds. */
  readonly adds: -1 | 0 | 1
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

/** The content of every plant. */
export const PLANT = { name: 'Plant 0000000001', tag: 'indoor' } as const

/** A list of so many plants, as JSON. */
export function listOf(count: number): string {
  return JSON.stringify(Array.from({ length: count }, () => PLANT))
}

/** All cases. @param small how many plants the caller `small` has @param many how many callers have 20 plants each */
export function casesOf(small: number, many: number) {
  const list = { method: 'GET', status: 200, adds: 0 } as const
  const twenty = { ...list, path: '/plants?limit=20', answer: listOf(20) }
  const thousands = (count: number) => count.toLocaleString('en')
  const body = JSON.stringify({ id: ID, ...PLANT }).replace(`"${ID}"`, ID)
  return {
    list: { ...twenty, name: `list of 20 among ${thousands(small)}`, caller: 'small' },
    inTurn: { ...twenty, name: `list of 20, ${thousands(many)} callers in turn`, caller: 'many' },
    create: {
      ...{ name: 'create', caller: 'creator', method: 'POST', path: '/plants', body },
      ...{ status: 200, answer: JSON.stringify(PLANT), adds: 1 },
    },
    delete: {
      ...{ name: 'delete', caller: 'creator', method: 'DELETE', path: `/plants/${ID}` },
      ...{ status: 204, answer: '', adds: -1 },
    },
    whole: { ...list, name: `list of ${thousands(small)}`, caller: 'small', path: '/plants', answer: listOf(small) },
  } as const satisfies Record<string, Case>
}

/** The ids that were not created yet, and not deleted yet, and the next of many callers, by the server's tokens. */
const nextIds = new WeakMap<object, Record<string, number>>()
/** All ids have ten digits. */
const FIRST_ID = 1_000_000_000

/**
 * Puts a load on a server, and checks what it answers and keeps. It ends after some seconds or requests, and deletes end
 * when nothing is left.
 * @throws {Invalid}
 */
export async function measure(
  server: Running,
  { name, caller, method, path, body, status, answer, adds }: Case,
  connections: number,
  { seconds = 1, most = Infinity } = {},
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
  const id = ids[key] ?? FIRST_ID
  const left = adds === -1 ? (ids[`POST ${caller}`] ?? id) - id : most
  const [keptBefore, cpuBefore] = [await count?.(caller), server.cpu()]
  const load = { port, connections, seconds, most: left, method, path, ...(body !== undefined && { body }), ...token }
  const { right, wrong, ...times } = await run({ ...load, id, status, length: Buffer.byteLength(answer) })
  const cpu = server.cpu() - cpuBefore
  ids[key] = id + right + wrong
  if (wrong > 0) fail(`${wrong} of ${right + wrong} answers were wrong`)
  if (adds !== 0 && count !== undefined) {
    const changed = adds * ((await count(caller)) - Number(keptBefore))
    if (changed !== right) fail(`of ${right} writes ${changed} were kept`)
  }
  return { rate: right / times.seconds, p50: times.p50, p99: times.p99, cpu: (cpu * 1000) / right }
}
