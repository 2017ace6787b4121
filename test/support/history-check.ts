// Judges what clients were answered while others wrote, too: is there an order that explains it?
// See Herlihy and Wing, Linearizability, https://doi.org/10.1145/78969.78972; each plant is judged by itself.

/** What is common to all that clients do. Times are of one clock. */
interface Timed {
  readonly owner: string
  readonly start: number
  /** When the answer was in; Infinity if there was none, and with one that leaves open what was done. */
  readonly end: number
}

/** A create or a delete of a plant. */
export interface Write extends Timed {
  readonly kind: 'create' | 'delete'
  readonly id: number
  /** Of a create, the name of the plant; no two that differ in it are one request and its repetition. */
  readonly name?: string
  /** `refused`: the id is taken by another plant, or there is nothing to delete. `unknown`: it may be done at any time. */
  readonly outcome: 'done' | 'refused' | 'unknown'
}

/** A whole list, as it was answered: the names of plants by their ids. */
export interface List extends Timed {
  readonly kind: 'list'
  readonly plants: ReadonlyMap<number, string>
}

export type Operation = Write | List

/** The name of the plant that there is of an id, if there is one. */
type State = string | undefined

/** A course that events may have taken: what has become of the plant, and which of the open operations are carried out. */
interface Course {
  readonly state: State
  readonly done: ReadonlySet<Operation>
}

/**
 * Finds what no order explains in which each operation takes place between its start and its end.
 * @returns a text for each plant that was lost, came back, was created twice, was not in a list or wrongly in one, or
 *   whose create or delete had a wrong answer
 */
export function wrongs(operations: readonly Operation[]): string[] {
  return [...Map.groupBy(operations, ({ owner }) => owner)].flatMap(([owner, ofOwner]) => {
    const lists = ofOwner.filter((each) => each.kind === 'list')
    const writes = Map.groupBy(
      ofOwner.filter((each) => each.kind !== 'list'),
      ({ id }) => id,
    )
    const ids = new Set([...writes.keys(), ...lists.flatMap(({ plants }) => [...plants.keys()])])
    return [...ids].flatMap((id) => {
      const all = [...(writes.get(id) ?? []), ...lists]
      const wrong = firstWrong(id, all)
      if (wrong === undefined) return []
      const story = all.filter((each) => each.start <= wrong.end).sort((one, two) => one.start - two.start)
      const lines = story.slice(-20).map((each) => `  ${textOf(each, id)}${each === wrong ? ' <- wrong' : ''}`)
      return [`plant ${id} of ${owner}:\n${lines.join('\n')}`]
    })
  })
}

/** The first operation at whose end no course is left that the events may have taken. */
function firstWrong(id: number, operations: readonly Operation[]): Operation | undefined {
  const events = operations.flatMap((operation) => [
    { operation, at: operation.start, isEnd: false },
    { operation, at: operation.end, isEnd: true },
  ])
  events.sort((one, two) => one.at - two.at || Number(one.isEnd) - Number(two.isEnd))
  const open = new Set<Operation>()
  let courses: Course[] = [{ state: undefined, done: new Set() }]
  for (const { operation, at, isEnd } of events) {
    if (at === Infinity) break // what was done of the rest is unknown
    if (isEnd) {
      courses = coursesTo(operation, id, courses, open)
      open.delete(operation)
      if (courses.length === 0) return operation
    } else {
      open.add(operation)
      courses = courses.map(({ state, done }) => arrive(id, state, done, [operation]))
    }
  }
  return undefined
}

/** The shortest courses to the end of an operation: others of those that are open may be carried out before it. */
function coursesTo(operation: Operation, id: number, courses: readonly Course[], open: ReadonlySet<Operation>) {
  const found: Course[] = []
  const tried: Course[] = []
  const queue = [...courses]
  for (const course of queue) {
    if (tried.some((each) => isNoWorse(each, course))) continue
    tried.push(course)
    const { state, done } = course
    if (done.has(operation)) {
      found.push({ state, done: done.difference(new Set([operation])) })
      continue
    }
    const next = [...open].filter((each) => !isRead(each) && !done.has(each) && fits(each, id, state))
    queue.push(...next.map((each) => arrive(id, after(each, state), new Set([...done, each]), open)))
  }
  return found
}

/** Whether a course can go on in all ways that another can: of what need not be done it has not done more. */
function isNoWorse(course: Course, other: Course): boolean {
  if (course.state !== other.state) return false
  const extra = [...course.done.difference(other.done)]
  const missing = [...other.done.difference(course.done)]
  return extra.every(isRead) && missing.every((each) => each.end === Infinity)
}

/** A course that comes to a state. Whatever only reads, and fits, is done there: to wait would gain nothing. */
function arrive(id: number, state: State, done: ReadonlySet<Operation>, open: Iterable<Operation>): Course {
  const reads = [...open].filter((each) => isRead(each) && fits(each, id, state))
  return { state, done: new Set([...done, ...reads]) }
}

function isRead(operation: Operation): boolean {
  return operation.kind === 'list' || operation.outcome === 'refused'
}

/** Whether an operation that is carried out in a state has the answer that it had. */
function fits(operation: Operation, id: number, state: State): boolean {
  if (operation.kind === 'list') return operation.plants.get(id) === state
  const { kind, name, outcome } = operation
  if (outcome === 'unknown') return true
  if (kind === 'delete') return (state !== undefined) === (outcome === 'done')
  return (state === undefined || state === name) === (outcome === 'done')
}

function after(operation: Operation, state: State): State {
  if (operation.kind === 'list') return state
  return operation.kind === 'delete' ? undefined : (state ?? operation.name)
}

function textOf(operation: Operation, id: number): string {
  const what = operation.kind === 'list' ? `lists ${operation.plants.get(id) ?? 'nothing'}` : operation.outcome
  const name = operation.kind === 'create' ? ` ${operation.name}` : ''
  return `${operation.start.toFixed(1)} to ${operation.end.toFixed(1)}: ${operation.kind}${name}: ${what}`
}
