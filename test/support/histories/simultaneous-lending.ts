// Clients borrow, return and count the same books of a library at the same time, on several replicas.
import { fail } from 'node:assert'
import { setTimeout as delay } from 'node:timers/promises'
import fc from 'fast-check'
import type { Database } from '../library/stock.ts'
import { openLibrary } from '../library/stock.ts'
import { LIBRARY } from '../library/library.ts'
import type { Call } from '../servers/start-product.ts'
import { ask as send } from './simultaneous-clients.ts'
import { range } from '../stores/store-engines.ts'
import { COPIES_IN_GROUP, type Lending, type LendingOperation } from './lending-order.ts'

const CLIENTS = 6
/** Two members want the same books, of which one member may not have all. */
const [MEMBERS_OF_GROUP, BOOKS_OF_GROUP] = [2, 7]
/** The most requests for a group. */
const REQUESTS_OF_GROUP = 40
/** Milliseconds after which a refused client goes on. */
const PAUSE = 200

const memberOf = (group: number, place: number) => `member-${group}-${place}`
const isbnOf = (group: number, place: number) =>
  `979${String(group).padStart(7, '0')}${String(place).padStart(3, '0')}`

/** A request of a librarian, as the contract has it. */
export interface LendingRequest {
  readonly kind: LendingOperation['kind']
  readonly member: string
  readonly isbn: string
}

/** An answer: a body has `free` or `open`. The status is 0 if the connection was lost. */
export interface LendingAnswer {
  readonly status: number
  readonly body?: unknown
}

const choice = fc.noBias(
  fc.record({
    kind: fc.constantFrom(
      'borrow',
      'borrow',
      'borrow',
      'borrow',
      'return',
      'return',
      'free',
      'open',
    ),
    member: fc.nat(MEMBERS_OF_GROUP - 1),
    book: fc.nat(BOOKS_OF_GROUP - 1),
  }),
)

/** Adds the books and members of groups to a library. */
export async function addGroups(database: Database, groups: number): Promise<void> {
  const { books, members, store } = await openLibrary(database)
  const book = {
    title: 'A book',
    author: 'Le Guin',
    year: 1969,
    copies: COPIES_IN_GROUP,
    free: COPIES_IN_GROUP,
  }
  for (const group of range(groups)) {
    const isbns = range(BOOKS_OF_GROUP).map((place) => isbnOf(group, place))
    const ids = range(MEMBERS_OF_GROUP).map((place) => memberOf(group, place))
    await Promise.all([
      ...isbns.map((isbn) => books.create(LIBRARY, isbn, book)),
      ...ids.map((id) =>
        members.create(LIBRARY, id, { name: id, email: `${id}@example.com`, open: 0 }),
      ),
    ])
  }
  await store.close()
}

/** Sends a request to a service. */
export async function lendOver(
  port: number,
  token: string,
  request: LendingRequest,
): Promise<LendingAnswer> {
  const { status, json } = await send(port, { ...toCall(request), token })
  return { status, body: json }
}

function toCall({ kind, member, isbn }: LendingRequest): Call {
  if (kind === 'free') return { path: `/books/${isbn}` }
  if (kind === 'open') return { path: `/members/${member}` }
  const method = kind === 'borrow' ? 'PUT' : 'DELETE'
  return { method, path: `/members/${member}/loans/${isbn}` }
}

/** The course of a history. */
interface Course {
  /** Determines the requests, but not their times. */
  readonly seed: number
  /** The groups of the requests: the first one, and the one after the last. */
  readonly groups: readonly [first: number, end: number]
  /** Ends the history. */
  readonly isOver?: () => boolean
}

/**
 * Runs clients until all groups have had their requests, or until it is over.
 * @param ask sends a request of a client
 */
export async function runLending(
  ask: (request: LendingRequest, client: number) => Promise<LendingAnswer>,
  { seed, groups: [first, end], isOver = () => false }: Course,
): Promise<LendingOperation[]> {
  const operations: LendingOperation[] = []
  let group = first
  let left = REQUESTS_OF_GROUP
  const nextGroup = () => {
    group += 1
    left = REQUESTS_OF_GROUP
  }
  const client = async (place: number) => {
    const choices = fc.sample(choice, { seed: seed + place, numRuns: 1000 })
    for (let count = 0; group < end && !isOver(); count++) {
      const { kind, member, book } = choices[count % choices.length] ?? fail()
      const ofGroup = group
      const request = { kind, member: memberOf(group, member), isbn: isbnOf(group, book) }
      left -= 1
      if (left === 0) nextGroup()
      const start = performance.now()
      const answer = await ask(request, place)
      const times = { group: ofGroup, start, end: performance.now() }
      operations.push(...operationOf(request, times, answer))
      if (answer.status !== 0 && answer.status !== 503) continue
      // Each open effect doubles the possible states of a group.
      if (group === ofGroup) nextGroup()
      await delay(PAUSE)
    }
  }
  await Promise.all(range(CLIENTS).map(client))
  return operations
}

const OUTCOMES = new Map<number, Lending['outcome']>([
  [200, 'done'],
  [204, 'done'],
  [404, 'refused'],
  [409, 'refused'],
])

/** The operation of a request and its answer; none if a count was not answered. */
function operationOf(
  { kind, member, isbn }: LendingRequest,
  times: { readonly group: number; readonly start: number; readonly end: number },
  { status, body }: LendingAnswer,
): LendingOperation[] {
  if (kind === 'free' || kind === 'open') {
    if (status !== 200) return []
    const counts = body as { free?: number; open?: number } // as the contract says
    return [{ kind, ...times, key: kind === 'free' ? isbn : member, count: counts[kind] ?? NaN }]
  }
  const outcome = OUTCOMES.get(status) ?? 'unknown'
  const end = outcome === 'unknown' ? Infinity : times.end
  return [{ kind, ...times, end, member, isbn, outcome }]
}
