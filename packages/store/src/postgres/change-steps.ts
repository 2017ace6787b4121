// Decides changes on the items as they are stored, and makes the statements that carry them out.
import type { Batched } from '../core/batch.ts'
import type { Decide } from '../core/database.ts'
import type { Key } from '@plant-store/engine/for-store'
import { toCells } from './cells.ts'
import type { Step } from './pipeline.ts'
import type { PostgresTable } from './table.ts'

/** A row, and a string that tells it from all others. */
export interface Row {
  readonly id: string
  readonly table: PostgresTable
  readonly key: Key
}

/** A change that waits for its transaction. */
export interface Change {
  readonly owner: string
  readonly rows: readonly Row[]
  readonly decide: Decide
}

export type BatchedChange = Batched<Change, undefined>

/** Items by the ids of their rows; undefined where there is none. */
export type Items = Map<string, string | undefined>

/** A statement of a transaction, and the row that it is for. */
interface RowStep extends Step {
  readonly id: string
  /** Whether it adds a row: after the others, which may free its values in a unique index. */
  readonly isAdd: boolean
}

/** A change that was decided. */
interface Decided {
  readonly change: BatchedChange
  /** Its new items, by the ids of their rows. */
  readonly items: Items
  /** Answers its caller when the items are on disk. */
  readonly settle: () => void
}

/**
 * Decides changes, each on the items that the changes before it leave.
 * @returns the new items, the decided changes, and the changes that free a value of a unique index.
 * These are decided again, each by itself: rule 5 of changes.ts
 */
export function decideAll(batch: readonly BatchedChange[], before: Items) {
  const after = new Map(before)
  const decided: Decided[] = []
  const freeing: BatchedChange[] = []
  for (const change of batch) {
    const next = decide(change, after)
    if (batch.length > 1 && frees(next, after)) {
      freeing.push(change)
      continue
    }
    for (const [id, text] of next.items) after.set(id, text)
    decided.push(next)
  }
  return { after, decided, freeing }
}

function decide(change: BatchedChange, items: Items): Decided {
  const { item, resolve, reject } = change
  try {
    const texts = item.decide(item.rows.map(({ id }) => items.get(id))) ?? []
    const pairs = item.rows.flatMap(({ id }, at) => {
      const text = texts[at]
      return text === undefined ? [] : [[id, text ?? undefined] as const]
    })
    return { change, items: new Map(pairs), settle: () => resolve(undefined) }
  } catch (error) {
    return { change, items: new Map(), settle: () => reject(error) }
  }
}

/** Whether a change frees a value of a unique index. */
function frees({ change, items }: Decided, before: Items): boolean {
  return change.item.rows.some(
    ({ id, table }) => items.has(id) && table.frees(before.get(id), items.get(id)),
  )
}

/** A row with its owner. */
interface OwnedRow {
  readonly owner: string
  readonly row: Row
}

/** The rows of changes, each once. All replicas have the same order: otherwise they could deadlock. */
export function rowsOf(batch: readonly BatchedChange[]): OwnedRow[] {
  const rows = batch.flatMap(({ item: { owner, rows } }) => rows.map((row) => ({ owner, row })))
  const byId = new Map(rows.map((owned) => [owned.row.id, owned]))
  return [...byId.values()].sort((left, right) => (left.row.id < right.row.id ? -1 : 1))
}

/** The statements that change a row, or lock it as it is. Each returns a row if the item is as it was read. */
export function stepsOf(
  { owner, row: { id, table, key } }: OwnedRow,
  before: Items,
  after: Items,
): RowStep[] {
  const { add, keep, update, remove } = table.sql
  const [old, text] = [before.get(id), after.get(id)]
  const step = (statement: Step['statement'], ...more: string[]) => ({
    ...stepOf(statement, [owner, key, ...more]),
    id,
    isAdd: old === undefined || statement === add,
  })
  if (old === undefined && text !== undefined) return [step(add, text)]
  // Only a row can be locked: one is added, and nobody sees it.
  if (old === undefined) return [step(add, 'null'), step(remove, 'null')]
  if (text === undefined) return [step(remove, old)]
  if (table.moves(old, text)) return [step(remove, old), step(add, text)]
  return [text === old ? step(keep, old) : step(update, text, old)]
}

export function stepOf(statement: Step['statement'], values: readonly Key[]): Step {
  return { statement, values: toCells(values) }
}

export function isSame(left: Items, right: Items): boolean {
  return [...left].every(([id, text]) => right.get(id) === text)
}
