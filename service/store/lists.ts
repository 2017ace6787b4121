import { JsonText } from '../engine/http/json.ts'
import { StoreBusy } from '../engine/errors.ts'
import { type Batched, Batcher } from './batch.ts'
import type { Key } from '../engine/store.ts'
import type { Rows, Step, Database, Table, Turn } from './database.ts'

/** About how many characters a step has. While it is read and written, others wait. */
export const STEP_LENGTH = 65_536
/** The first step of a list takes no turn, so it is short. */
const FIRST_STEP = { most: 64, length: 8192 }
/** The most rows of a step. */
const MAX_ROWS = 5000

/** A list: its items as JSON, and the key after which the next page begins, if there are more. */
interface List {
  readonly items: JsonText<never[]> | AsyncIterable<JsonText<never[]>>
  readonly last?: Key
}

/**
 * Runs the steps of long lists, a few at a time. Their owners take turns, so nobody waits for the length of another's list.
 * @param max the most rows that steps of one batch may ask for together; a single step may ask for more
 * @param parallel how many batches may run at a time
 * @param timeout milliseconds until a step must have begun
 */
export function runSteps(max: number, parallel: number, timeout: number): Database['steps'] {
  const run = (batch: readonly Batched<Turn, unknown>[]) =>
    Promise.all(
      batch.map(({ item, deadline, resolve, reject }) => item.read(deadline).then(resolve, reject)),
    )
  const [shareOf, weigh] = [({ owner }: Turn) => owner, ({ rows }: Turn) => rows]
  return new Batcher(run, { max, weigh, parallel, timeout, freshFirst: true, shareOf })
}

/**
 * Lists the rows of an owner by ascending key, after a key or from the first one. A list that is longer than one step is
 * read while it is sent, and no read stays open between its steps.
 * @param limit the most rows
 */
export async function readList(
  { steps, timeout }: Pick<Database, 'steps' | 'timeout'>,
  table: Pick<Table, 'read' | 'skip'>,
  owner: string,
  after: Key | undefined,
  limit: number,
): Promise<List> {
  const deadline = performance.now() + timeout
  const inTurn = <Value>(
    rows: number,
    read: (deadline: number) => Promise<Value>,
    until?: number,
  ) => steps.add({ owner, rows, read }, until) as Promise<Value> // what `read` gives
  const most = Math.min(limit, FIRST_STEP.most)
  // While others of this owner wait, a longer one takes its turn from the beginning: if it is refused, it has read nothing.
  if (most === limit || !steps.isAwaited(owner)) {
    const first = await table.read({ owner, after, ...FIRST_STEP, most }, deadline)
    if (!first.hasMore || first.count === limit) return toList(first)
  }
  // Read from the beginning again: a list that fits in one step shows one moment.
  const step: Step = { owner, after, ...bounds(limit) }
  const whole = await inTurn(step.most, () => table.read(step, deadline), deadline)
  if (!whole.hasMore || whole.count === limit) return toList(whole)
  const end = limit === Infinity ? undefined : await findEnd()
  return { items: rest(), ...(end !== undefined && { last: end }) }

  /** Finds the last key of the page, if there are more rows after it. */
  async function findEnd(): Promise<Key | undefined> {
    let last = whole.last
    for (let left = limit - whole.count; left > 0; left -= MAX_ROWS) {
      const [from, rows] = [last, Math.min(left, MAX_ROWS)]
      last = await inTurn(rows, () => table.skip(owner, from, rows, deadline), deadline)
      if (last === undefined) return undefined
    }
    return (await table.skip(owner, last, 1, deadline)) === undefined ? undefined : last
  }

  async function* rest(): AsyncGenerator<JsonText<never[]>> {
    let rows = whole
    for (let left = limit - rows.count; ; left -= rows.count) {
      if (left < 0) throw new StoreBusy('items were added to the page while it was read')
      yield new JsonText(`[${rows.text}]`)
      if (!rows.hasMore || rows.last === end || rows.last === undefined) return
      const step: Step = { owner, after: rows.last, end, ...bounds(left + 1, rows) }
      rows = await inTurn(step.most, (until) => table.read(step, until))
    }
  }
}

/** The bounds of a step of at most `limit` rows. @param before the rows read last: the next ones are about as long */
function bounds(limit: number, before?: Rows): Pick<Step, 'most' | 'length'> {
  const fitting = before
    ? Math.ceil((2 * STEP_LENGTH * before.count) / before.text.length)
    : MAX_ROWS
  return { most: Math.min(limit, MAX_ROWS, fitting), length: STEP_LENGTH }
}

function toList({ text, last, hasMore }: Rows): List {
  return { items: new JsonText(`[${text}]`), ...(hasMore && last !== undefined && { last }) }
}
