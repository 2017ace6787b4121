import { DatabaseSync } from 'node:sqlite'
import { JsonText } from '../../http/json.ts'
import type { Measure, ReadPage, Snapshot } from '../lists.ts'
import { toId } from '../rows.ts'
import type { Plant } from '../store.ts'
import { SERVICE_BUSY_TIMEOUT } from './file.ts'

/** Runs SQL and translates its errors. @throws {StoreUnavailable} */
export type Run = <Value>(sql: () => Value) => Value

/** A plant and its id. A row is an array, because an object would cost more. */
type PlantRow = { readonly 0?: unknown; readonly 1?: unknown }

/** Reads pages on a connection. */
export function pageReader(db: DatabaseSync, run: Run): ReadPage {
  const rows = db.prepare('SELECT plant, id FROM plants WHERE owner = ? AND id > ? ORDER BY id LIMIT ?')
  rows.setReturnArrays(true)
  return async (owner, after, most) => {
    const found: readonly PlantRow[] = run(() => rows.all(owner, after ?? -Infinity, most + 1))
    const page = found.length > most ? found.slice(0, most) : found
    const plants = new JsonText<Plant[]>(`[${page.map((row) => row[0]).join(',')}]`)
    return page === found ? { plants } : { plants, last: BigInt(String(page.at(-1)?.[1])) }
  }
}

/** Measures pages on a connection. */
export function pageMeasurer(db: DatabaseSync, run: Run): Measure {
  const size = db.prepare(`SELECT count(*) AS plants, total(octet_length(plant)) AS bytes FROM
    (SELECT plant FROM plants WHERE owner = ? AND id > ? ORDER BY id LIMIT ?)`)
  return async (owner, after, most) => {
    const { plants, bytes } = run(() => size.get(owner, after ?? -Infinity, most)) ?? {}
    return { plants: Number(plants), bytes: Number(bytes) }
  }
}

/** Opens a snapshot: a connection with a transaction that sees the plants as they are at its first read. */
export function openSnapshot(file: string, run: Run): Snapshot {
  const db = run(() => new DatabaseSync(file, { readOnly: true, readBigInts: true, timeout: SERVICE_BUSY_TIMEOUT }))
  try {
    run(() => db.exec('BEGIN; SELECT 1 FROM plants LIMIT 1'))
  } catch (error) {
    db.close()
    throw error
  }
  const id = db.prepare('SELECT id FROM plants WHERE owner = ? AND id > ? ORDER BY id LIMIT 1 OFFSET ?')
  return {
    page: pageReader(db, run),
    offset: async (owner, after, count) => {
      const row = run(() => id.get(owner, after ?? -Infinity, count - 1))
      return row && toId(row)
    },
    close: async () => db.close(),
  }
}
