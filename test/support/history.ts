// Clients that create, delete and list the same plants at the same time, on several replicas.
import { setTimeout as delay } from 'node:timers/promises'
import fc from 'fast-check'
import { type Answer, call, type Call } from './helper.ts'
import type { Operation } from './history-check.ts'

/** Where a service listens. The port changes when the service restarts. */
export interface Address {
  readonly port: number
}

/** A caller, by an access token. */
export interface Caller {
  readonly name: string
  readonly token: string
}

const CLIENTS = 12

/** Milliseconds after which a client sends its next request. The one before may still be under way. */
const CLIENT_TIMEOUT = 300

/** Milliseconds in which each request must be answered or lose its connection. All faults are shorter. */
const ANSWER_TIMEOUT = 15_000

/** The number of next ids that the clients of a caller choose from. So they use each id several times. */
const ID_RANGE = 12

const choice = fc.noBias(
  fc.record({
    what: fc.constantFrom('create', 'create', 'create', 'repeat', 'delete', 'delete', 'delete', 'list'),
    where: fc.nat(999),
    near: fc.nat(ID_RANGE - 1),
  }),
)

/**
 * Runs clients until `over` is aborted, and then until each request is answered or its connection is lost.
 * @param callers the owners of the plants; each has several clients
 * @param seed determines what the clients do, but not when
 * @param pause milliseconds between two requests of a client
 * @throws {Error} for a missing answer, and for an answer that the contract does not document or no fault explains
 */
export async function runHistory(
  replicas: readonly Address[],
  callers: readonly Caller[],
  seed: number,
  over: AbortSignal,
  pause = 0,
): Promise<{ operations: Operation[]; statuses: Map<number, number> }> {
  const operations: Operation[] = []
  const statuses = new Map<number, number>()
  const positions = new Map(callers.map(({ name }) => [name, 0]))

  const client = async (number: number) => {
    const caller = callers[number % callers.length]
    if (caller === undefined) throw new TypeError('there are no callers')
    const choices = fc.sample(choice, { seed: seed + number, numRuns: 1000 })
    const sent: Promise<void>[] = []
    let created = { id: 0, name: '0 of nobody' }
    for (let count = 0; !over.aborted; count++) {
      const { what, where, near } = choices[count % choices.length] ?? { what: 'list', where: 0, near: 0 }
      const position = (positions.get(caller.name) ?? 0) + 1
      positions.set(caller.name, position)
      const id = Math.floor(position / 4) + near
      if (what === 'create') created = { id, name: `${id} of ${number} in ${count}` }
      const replica = replicas[where % replicas.length] ?? { port: 0 }
      const request = what === 'create' || what === 'repeat' ? created : what === 'delete' ? id : undefined
      const answered = observe(replica, caller, request).then(async ({ operation, status }) => {
        if (operation !== undefined) operations.push(operation)
        statuses.set(status, (statuses.get(status) ?? 0) + 1)
        if (status === 0 || status === 503) await delay(100) // a refused client waits a little
      })
      sent.push(answered)
      await Promise.race([answered, delay(CLIENT_TIMEOUT)])
      if (pause > 0) await delay(pause)
    }
    await Promise.all(sent)
  }
  await Promise.all(Array.from({ length: CLIENTS }, (_, number) => client(number)))
  return { operations, statuses }
}

/**
 * Makes one request.
 * @param request the plant to create, the id of the plant to delete, or nothing to list all plants
 * @returns the operation, unless its answer says nothing; and the status, 0 if the connection was lost
 */
export async function observe(
  { port }: Address,
  { name: owner, token }: Caller,
  request?: { readonly id: number; readonly name: string } | number,
): Promise<{ operation: Operation | undefined; status: number }> {
  const start = performance.now()
  if (request === undefined) {
    const { status, json } = await send(port, { path: '/plants', token })
    const end = performance.now()
    return {
      status,
      operation: status === 200 ? { kind: 'list', owner, start, end, plants: plantsOf(json) } : undefined,
    }
  }
  const { status } = await (typeof request === 'number'
    ? send(port, { method: 'DELETE', path: `/plants/${request}`, token })
    : send(port, { method: 'POST', path: '/plants', token, body: request }))
  const plant =
    typeof request === 'number' ? { kind: 'delete' as const, id: request } : { kind: 'create' as const, ...request }
  const outcome = status === 200 || status === 204 ? 'done' : status === 404 || status === 409 ? 'refused' : 'unknown'
  const end = outcome === 'unknown' ? Infinity : performance.now()
  return { status, operation: { ...plant, owner, start, end, outcome } }
}

/** The plants of a list by id. Their names begin with their ids. */
function plantsOf(json: unknown): Map<number, string> {
  const names = (json as readonly { readonly name: string }[]).map(({ name }) => name) // the contract was checked
  const ids = names.map((name) => Number.parseInt(name))
  const disorder = ids.findIndex((id, index) => index > 0 && id <= (ids[index - 1] ?? id))
  if (disorder > 0) throw new Error(`the list has ${names[disorder]} after ${names[disorder - 1]}`)
  return new Map(names.map((name, index) => [ids[index] ?? NaN, name]))
}

const EXPECTED = new Set([200, 204, 404, 409, 503])
const LOST = new Set(['ECONNRESET', 'ECONNREFUSED', 'EPIPE'])

/** Makes a request. Its connection may be lost. */
async function send(port: number, request: Call): Promise<Pick<Answer, 'status' | 'json'>> {
  const tooLong = new AbortController()
  const where = `${request.method ?? 'GET'} ${request.path}`
  try {
    const answer = await Promise.race([
      call(port, request),
      delay(ANSWER_TIMEOUT, undefined, { signal: tooLong.signal }).then(() => {
        throw new Error(`${where} was not answered within ${ANSWER_TIMEOUT} ms`)
      }),
    ])
    if (!EXPECTED.has(answer.status)) throw new Error(`${where} answered ${answer.status}: ${answer.text}`)
    return answer
  } catch (error) {
    if (error instanceof Error && 'code' in error && LOST.has(String(error.code))) return { status: 0, json: undefined }
    throw error
  } finally {
    tooLong.abort()
  }
}
