import { FIRST_ID, ID, type Load, run } from './load.ts'
import type { Caller, Running } from './servers.ts'

/** A kind of request that is measured, and its answer. */
export interface Case {
  readonly name: string
  readonly does: 'creates' | 'lists' | 'deletes'
  readonly caller: Caller
  readonly method: Load['method']
  readonly path: string
  readonly body?: string
  readonly status: number
  readonly answer: string
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
  const list = { does: 'lists', method: 'GET', status: 200 } as const
  const twenty = { ...list, path: '/plants?limit=20', answer: listOf(20) }
  const thousands = (count: number) => count.toLocaleString('en')
  const body = JSON.stringify({ id: ID, ...PLANT }).replace(`"${ID}"`, ID)
  return {
    list: { ...twenty, name: `list of 20 among ${thousands(small)}`, caller: 'small' },
    inTurn: { ...twenty, name: `list of 20, ${thousands(many)} callers in turn`, caller: 'many' },
    create: {
      ...{ name: 'create', does: 'creates', caller: 'creator', method: 'POST', path: '/plants', body },
      ...{ status: 200, answer: JSON.stringify(PLANT) },
    },
    delete: {
      ...{ name: 'delete', does: 'deletes', caller: 'creator', method: 'DELETE', path: `/plants/${ID}` },
      ...{ status: 204, answer: '' },
    },
    whole: { ...list, name: `list of ${thousands(small)}`, caller: 'small', path: '/plants', answer: listOf(small) },
  } as const satisfies Record<string, Case>
}

/**
 * Puts a load on a server for a second, and checks what it answers and keeps. Deletes end when nothing is left.
 * @throws {Invalid}
 */
export async function measure(server: Running, each: Case, connections: number): Promise<Sample> {
  const { port, count, sent } = server
  const { name, does, method, path, body, status, answer } = each
  const tokens = server.tokens[each.caller]
  const fail = (what: string) => {
    throw new Invalid(`${server.name}, ${name}, ${connections} connections: ${what}`)
  }
  if (does === 'lists') {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      headers: { authorization: `Bearer ${tokens[0]}` },
    })
    if (response.status !== status || (await response.text()) !== answer) fail('the list is wrong')
  }
  const [keptBefore, cpuBefore] = [await count?.(), server.cpu()]
  const most = does === 'deletes' ? sent.creates - sent.deletes : Infinity
  const request = { method, path, ...(body !== undefined && { body }), tokens, first: FIRST_ID + sent[does] }
  const load = { port, connections, seconds: 1, most, ...request, status, length: Buffer.byteLength(answer) }
  const { right, wrong, seconds, p50, p99 } = await run(load)
  const cpu = server.cpu() - cpuBefore
  sent[does] += right + wrong
  if (wrong > 0) fail(`${wrong} of ${right + wrong} answers were wrong`)
  if (does !== 'lists' && count !== undefined) {
    const changed = Math.abs((await count()) - Number(keptBefore))
    if (changed !== right) fail(`of ${right} writes ${changed} were kept`)
  }
  return { rate: right / seconds, p50, p99, cpu: (cpu * 1000) / right }
}
