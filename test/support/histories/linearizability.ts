// Checks the answers to simultaneous requests for linearizability: does an order of the requests explain them? Each plant is
// checked separately.

import { type Model, OrderSearch, type Timed } from './order.ts'

/** The times of an operation, and the owner of its items. */
interface Owned extends Timed {
  readonly owner: string
}

/** A create, an update or a delete of an item. An update adds a `+` to its name. */
export interface Write extends Owned {
  readonly kind: 'create' | 'update' | 'delete'
  readonly id: number
  /** The name of an item to create, or from the answer of an update. Creates with the same name are one request. */
  readonly name?: string
  /** `refused`: another item has the id, or there is none to update or delete. `unknown`: it may be done at any time. */
  readonly outcome: 'done' | 'refused' | 'unknown'
}

/** The answer to a list: the names of all items, by id. */
export interface List extends Owned {
  readonly kind: 'list'
  readonly plants: ReadonlyMap<number, string>
}

export type Operation = Write | List
/** The name of a plant; empty if there is none. */
type State = string

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
      const wrong = new OrderSearch(plantModel(id)).firstViolation(calls)
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

function plantModel(id: number): Model<Operation> {
  return {
    initial: '',
    isRead: (operation) => operation.kind === 'list' || operation.outcome === 'refused',
    fits: (operation, state) =>
      operation.kind === 'list'
        ? (operation.plants.get(id) ?? '') === state
        : fits(operation, state),
    after: (operation, state) => (operation.kind === 'list' ? state : after(operation, state)),
  }
}

/** Whether the answer of a write is right in a state. */
function fits({ kind, name, outcome }: Write, state: State): boolean {
  const [isThere, isDone] = [state !== '', outcome === 'done']
  if (outcome === 'unknown') return true
  if (kind === 'delete') return isThere === isDone
  if (kind === 'update') return isDone ? isThere && `${state}+` === name : !isThere
  return (!isThere || state === name) === isDone
}

function after({ kind, name = '' }: Write, state: State): State {
  if (kind === 'delete') return ''
  if (kind === 'update') return state && `${state}+`
  return state || name
}

function describe(operation: Operation, id: number): string {
  const { kind, start, end } = operation
  const what =
    kind === 'list' ? operation.plants.get(id) : `${operation.name ?? ''}: ${operation.outcome}`
  return `${start.toFixed(1)} to ${end.toFixed(1)}: ${kind} ${what}`
}
