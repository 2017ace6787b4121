// Checks the answers to simultaneous requests for linearizability: does an order of the requests explain them?
// See Herlihy and Wing, Linearizability, https://doi.org/10.1145/78969.78972. Each plant is checked separately.

/** The times of an operation, all from one clock. */
interface Timed {
  readonly owner: string
  readonly start: number
  /** The time of the answer; Infinity without one, or if it leaves the effect open. */
  readonly end: number
}

/** A create, an update or a delete of an item. An update adds a `+` to its name. */
export interface Write extends Timed {
  readonly kind: 'create' | 'update' | 'delete'
  readonly id: number
  /** The name of an item to create, or from the answer of an update. Creates with the same name are one request. */
  readonly name?: string
  /** `refused`: another item has the id, or there is none to update or delete. `unknown`: it may be done at any time. */
  readonly outcome: 'done' | 'refused' | 'unknown'
}

/** The answer to a list: the names of all items, by id. */
export interface List extends Timed {
  readonly kind: 'list'
  readonly plants: ReadonlyMap<number, string>
}

export type Operation = Write | List
type State = string | undefined

/** A possible course of events: the name of the plant, if there is one, and the open operations with an effect. */
interface Candidate {
  readonly state: State
  readonly done: ReadonlySet<Operation>
}

/**
 * Looks for an order in which each operation takes place between its start and its end.
 * @returns a text for each plant without such an order: it was lost, came back, was created twice, was missing in a list
 *   or wrongly in one, or a create or delete had a wrong answer
 */
export function violations(operations: readonly Operation[]): string[] {
  return [...Map.groupBy(operations, ({ owner }) => owner)].flatMap(([owner, ofOwner]) => {
    const lists = ofOwner.filter((call) => call.kind === 'list')
    const writes = Map.groupBy(ofOwner, (call) => (call.kind === 'list' ? undefined : call.id))
    const ids = new Set([...writes.keys(), ...lists.flatMap(({ plants }) => [...plants.keys()])])
    return [...ids].flatMap((id) => {
      if (id === undefined) return []
      const calls = [...(writes.get(id) ?? []), ...lists]
      const wrong = firstViolation(id, calls)
      if (wrong === undefined) return []
      const history = calls
        .filter((call) => call.start <= wrong.end)
        .sort((left, two) => left.start - two.start)
      const lines = history
        .slice(-20)
        .map((call) => `  ${describe(call, id)}${call === wrong ? ' <- wrong' : ''}`)
      return [`plant ${id} of ${owner}:\n${lines.join('\n')}`]
    })
  })
}

/** The first operation whose end leaves no candidate. */
function firstViolation(id: number, operations: readonly Operation[]): Operation | undefined {
  const events = operations.flatMap((operation) => [
    { operation, at: operation.start, isEnd: false },
    { operation, at: operation.end, isEnd: true },
  ])
  events.sort((left, two) => left.at - two.at || Number(left.isEnd) - Number(two.isEnd))
  const open = new Set<Operation>()
  let candidates: Candidate[] = [{ state: undefined, done: new Set() }]
  for (const { operation, at, isEnd } of events) {
    if (at === Infinity) break // nobody knows which of the other operations were done
    if (isEnd) {
      candidates = complete(operation, id, candidates, open)
      open.delete(operation)
      if (candidates.length === 0) return operation
    } else {
      open.add(operation)
      candidates = candidates.map(({ state, done }) => arrive(id, state, done, [operation]))
    }
  }
  return undefined
}

/** The shortest candidates in which an operation is done. Other open operations may be done before it. */
function complete(
  operation: Operation,
  id: number,
  candidates: readonly Candidate[],
  open: ReadonlySet<Operation>,
) {
  const kept: Candidate[] = []
  const tried: Candidate[] = []
  const queue = [...candidates]
  for (const candidate of queue) {
    if (tried.some((earlier) => isNoWorse(earlier, candidate))) continue
    tried.push(candidate)
    const { state, done } = candidate
    if (done.has(operation)) {
      kept.push({ state, done: done.difference(new Set([operation])) })
      continue
    }
    const next = [...open].filter(
      (call) => !isRead(call) && !done.has(call) && fits(call, id, state),
    )
    queue.push(
      ...next.map((call) => arrive(id, after(call, state), new Set([...done, call]), open)),
    )
  }
  return kept
}

/** Whether a candidate can continue in all ways of another one. */
function isNoWorse(candidate: Candidate, second: Candidate): boolean {
  const extra = [...candidate.done.difference(second.done)]
  const missing = [...second.done.difference(candidate.done)]
  return (
    candidate.state === second.state &&
    extra.every(isRead) &&
    missing.every(({ end }) => end === Infinity)
  )
}

/** A candidate at a state. All open reads that fit the state are done at once: waiting would gain nothing. */
function arrive(
  id: number,
  state: State,
  done: ReadonlySet<Operation>,
  open: Iterable<Operation>,
): Candidate {
  const reads = [...open].filter((call) => isRead(call) && fits(call, id, state))
  return { state, done: new Set([...done, ...reads]) }
}

function isRead(operation: Operation): boolean {
  return operation.kind === 'list' || operation.outcome === 'refused'
}

/** Whether the answer of an operation is right in a state. */
function fits(operation: Operation, id: number, state: State): boolean {
  if (operation.kind === 'list') return operation.plants.get(id) === state
  const { kind, name, outcome } = operation
  if (outcome === 'unknown') return true
  if (kind === 'delete') return (state !== undefined) === (outcome === 'done')
  if (kind === 'update')
    return outcome === 'done' ? state !== undefined && `${state}+` === name : state === undefined
  return (state === undefined || state === name) === (outcome === 'done')
}

function after(operation: Operation, state: State): State {
  if (operation.kind === 'list') return state
  if (operation.kind === 'update') return state && `${state}+`
  return operation.kind === 'delete' ? undefined : (state ?? operation.name)
}

function describe(operation: Operation, id: number): string {
  const { kind, start, end } = operation
  const what =
    kind === 'list' ? operation.plants.get(id) : `${operation.name ?? ''}: ${operation.outcome}`
  return `${start.toFixed(1)} to ${end.toFixed(1)}: ${kind} ${what}`
}
