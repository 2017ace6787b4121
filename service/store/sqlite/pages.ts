import { DatabaseSync } from 'node:sqlite'
import { JsonText } from '../../http/json.ts'
import type { Measure, ReadPage, Snapshot } from '../lists.ts'
import { toId } from '../rows.ts'
import type { Plant } from '../store.ts'
import { SERVICE_BUSY_TIMEOUT } from './file.ts'
import { type SqlRunner, Statements } from './statements.ts'

/** A plant and its id. A row is an array, because an object would cost more. */
type PlantRow = { readonly 0?: unknown; readonly 1?: unknown }

/** Reads pages on a connection. */
export function reader(db: DatabaseSync, runner: SqlRunner): ReadPage {
  const rows = db.prepare('SELECT plant, id FROM plants WHERE owner = ? AND id > ? ORDER BY id LIMIT ?')
  rows.setReturnArrays(true)
  return async (owner, after, most) => {
    const found: readonly PlantRow[] = runner.run(() => rows.all(owner, after ?? -Infinity, most + 1))
    const page = found.length > most ? found.slice(0, most) : found
    const plants = new JsonText<Plant[]>(`[${page.map((row) => row[0]).join(',')}]`)
    return page === found ? { plants } : { plants, last: BigInt(String(page.at(-1)?.[1])) }
  }
}

/** Measures pages on a connection. */
export function measurer(sql: Statements): Measure {
  return async (owner, after, most) => {
    const { plants, bytes } =
      sql.get`SELECT count(*) AS plants, total(octet_length(plant)) AS bytes FROM
        (SELECT plant FROM plants WHERE owner = ${owner} AND id > ${after ?? -Infinity} ORDER BY id LIMIT ${most})` ??
      {}
    return { plants: Number(plants), bytes: Number(bytes) }
  }
}

/** Opens a snapshot: a connection with a transaction that sees the plants as they are at its first read. */
export function openSnapshot(file: string, runner: SqlRunner): Snapshot {
  const db = runner.run(
    () => new DatabaseSync(file, { readOnly: true, readBigInts: true, timeout: SERVICE_BUSY_TIMEOUT }),
  )
  try {
    runner.run(() => db.exec('BEGIN; SELECT 1 FROM plants LIMIT 1'))
  } catch (error) {
    db.close()
    throw error
  }
  const sql = new Statements(db, runner)
  return {
    page: reader(db, runner),
    offset: async (owner, after, count) => {
      const from = after ?? -Infinity
      const row = sql.get`SELECT id FROM plants WHERE owner = ${owner} AND id > ${from}
          ORDER BY id LIMIT 1 OFFSET ${count - 1}`
      return row && toId(row)
    },
    close: async () => db.close(),
  }
}
