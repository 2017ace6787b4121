// Clients create, change, delete and list the same plants and notes at the same time, on several replicas.
import { fail } from 'node:assert'
import { setTimeout as delay } from 'node:timers/promises'
import fc from 'fast-check'
import { type Call, request as send } from '../servers/start-product.ts'
import type { Operation, Write } from './linearizability.ts'
import { FIRST_COUNT } from '../product/note-service.ts'

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
/** The number of ids that the clients of a caller share. So they use each id several times. */
const ID_RANGE = 12

type Collection = 'plants' | 'notes'

/** A request. A repeated create has the same name. */
type Request =
  | { readonly kind: 'list'; readonly collection: Collection }
  | {
      readonly kind: Write['kind']
      readonly collection: Collection
      readonly id: number
      readonly name?: string
    }

const choice = fc.noBias(
  fc.record({
    what: fc.constantFrom(
      'create',
      'create',
      'repeat',
      'update',
      'update',
      'delete',
      'delete',
      'delete',
      'list',
    ),
    collection: fc.constantFrom('plants', 'notes'),
    where: fc.nat(999),
    near: fc.nat(ID_RANGE - 1),
  }),
)

interface Course {
  /** Determines the requests of the clients, but not their times. */
  readonly seed: number
  /** Its abort ends the history. */
  readonly over: AbortSignal
  /** Milliseconds between two requests of a client; by default 0. */
  readonly pause?: number
}

/**
 * Runs clients until `over` is aborted, and then until each request is answered or its connection is lost.
 * @param callers the owners of the plants; each has several clients
 * @throws {Error} for a missing or undocumented answer without a fault as its reason
 */
export async function runHistory(
  replicas: readonly Address[],
  callers: readonly Caller[],
  { seed, over, pause = 0 }: Course,
): Promise<{ operations: Operation[]; statuses: Map<number, number> }> {
  const operations: Operation[] = []
  const statuses = new Map<number, number>()
  const positions = new Map<string, number>()

  const client = async (number: number) => {
    const caller = callers[number % callers.length] ?? fail()
    const choices = fc.sample(choice, { seed: seed + number, numRuns: 1000 })
    const sent: Promise<void>[] = []
    let created: Request = { kind: 'create', collection: 'plants', id: 0, name: '0 of nobody' }
    for (let count = 0; !over.aborted; count++) {
      const { what, collection, where, near } = choices[count % choices.length] ?? fail()
      const owner = ownerOf(caller.name, collection)
      const position = (positions.get(owner) ?? 0) + 1
      positions.set(owner, position)
      const id = Math.floor(position / 4) + near
      if (what === 'create')
        created = { kind: what, collection, id, name: `${id} of ${number} in ${count}` }
      const request: Request =
        what === 'create' || what === 'repeat' ? created : { kind: what, collection, id }
      const replica = replicas[where % replicas.length] ?? fail()
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

/** The effect of a write, by its status. */
const OUTCOMES = new Map<number, Write['outcome']>([
  [200, 'done'],
  [204, 'done'],
  [404, 'refused'],
  [409, 'refused'],
])

/**
 * Makes one request. The collections of a caller are checked separately, as if they had two owners.
 * @returns the operation, unless its answer says nothing; and the status, 0 if the connection was lost
 */
export async function observe(
  { port }: Address,
  caller: Caller,
  request: Request,
): Promise<{ operation: Operation | undefined; status: number }> {
  const owner = ownerOf(caller.name, request.collection)
  const start = performance.now()
  const { status, json } = await ask(port, { ...toCall(request), token: caller.token })
  const end = performance.now()
  if (request.kind === 'list' && status !== 200) return { status, operation: undefined }
  if (request.kind === 'list')
    return { status, operation: { kind: 'list', owner, start, end, plants: itemsOf(json) } }
  const { kind, id } = request
  const outcome = OUTCOMES.get(status) ?? 'unknown'
  const name = kind === 'update' && outcome === 'done' ? nameOf(json) : request.name
  const operation: Write = {
    kind,
    owner,
    id,
    start,
    end: outcome === 'unknown' ? Infinity : end,
    outcome,
  }
  return { status, operation: name === undefined ? operation : { ...operation, name } }
}

/** The owner of a collection in a history. */
function ownerOf(caller: string, collection: Collection): string {
  return `${caller}, ${collection}`
}

/** The key of a note: keys ascend as ids do, from -100,000. */
function toKey(id: number): string {
  return `é${String(id + 100_000).padStart(7, '0')}`
}

/** Makes the call of a request. */
export function toCall(request: Request): Call {
  const path = `/${request.collection}`
  if (request.kind === 'list') return { path }
  const { kind, collection, id, name } = request
  const isPlant = collection === 'plants'
  if (kind === 'create')
    return { method: 'POST', path, body: isPlant ? { id, name } : { key: toKey(id), text: name } }
  const item = `${path}/${isPlant ? id : encodeURIComponent(toKey(id))}`
  return { method: kind === 'delete' ? 'DELETE' : 'PUT', path: item }
}

/** The name of an item. A note's count tells how often it was changed, which a plant's name has itself. */
function nameOf(item: unknown): string {
  const {
    name,
    text,
    count = FIRST_COUNT,
  } = item as { name?: string; text?: string; count?: bigint } // as the contract says
  return name ?? `${text}${'+'.repeat(Number(count - FIRST_COUNT))}`
}

/** The names of the items of a list by id. They begin with their ids. */
export function itemsOf(json: unknown): Map<number, string> {
  const names = (json as readonly unknown[]).map(nameOf) // the contract was checked
  const ids = names.map((name) => Number.parseInt(name))
  const disorder = ids.findIndex((id, index) => index > 0 && id <= (ids[index - 1] ?? id))
  if (disorder > 0) throw new Error(`the list has ${names[disorder]} after ${names[disorder - 1]}`)
  return new Map(names.map((name, index) => [ids[index] ?? NaN, name]))
}

const EXPECTED = [0, 200, 204, 404, 409, 503]
const LOST = ['ECONNRESET', 'ECONNREFUSED', 'EPIPE']

/** Makes a request. Its connection may be lost: then the status is 0. */
export async function ask(port: number, request: Call): Promise<{ status: number; json: unknown }> {
  const where = `${request.method ?? 'GET'} ${request.path}`
  const answered = send(port, request).catch((error: unknown) => {
    if (!(error instanceof Error && 'code' in error && LOST.includes(String(error.code))))
      throw error
    return { status: 0, json: undefined, text: '' }
  })
  const answer = await Promise.race([answered, delay(ANSWER_TIMEOUT, undefined, { ref: false })])
  if (answer === undefined) throw new Error(`${where} was not answered within ${ANSWER_TIMEOUT} ms`)
  if (!EXPECTED.includes(answer.status))
    throw new Error(`${where} answered ${answer.status}: ${answer.text}`)
  return answer
}
