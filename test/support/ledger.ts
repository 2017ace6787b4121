// Clients that create plants and delete half of them. A ledger records their answers and compares them with a database.
import { Agent } from 'node:http'
import { DatabaseSync } from 'node:sqlite'
import { call } from './helper.ts'

/** Records the requests of one caller's clients, and the answers. Each plant is created once, and deleted at most once. */
export class Ledger {
  /** The length of a plant's tag. Some tags do not fit into one page of the database. */
  readonly tagLength: (id: number) => number
  /** The tags of all plants for which a create was sent, by id. */
  readonly sent = new Map<number, string>()
  /** Plants with a create that was answered 200; with a delete that was sent; with a delete that was answered 204. */
  readonly stored = new Set<number>()
  readonly deleteSent = new Set<number>()
  readonly deleted = new Set<number>()
  /** How often each status was answered. */
  readonly statuses = new Map<number, number>()

  constructor(tagLength = (id: number) => (id * 37) % 240) {
    this.tagLength = tagLength
  }

  /** How many writes were acknowledged. */
  get acknowledged(): number {
    return this.stored.size + this.deleted.size
  }

  /** Says what a store has lost, undone or changed. @param plants the tags of its plants by id */
  violations(plants: ReadonlyMap<number, string>): string[] {
    return [
      ...[...this.stored].filter((id) => !this.deleteSent.has(id) && !plants.has(id)).map((id) => `lost: ${id}`),
      ...[...this.deleted].filter((id) => plants.has(id)).map((id) => `delete undone: ${id}`),
      ...[...plants].filter(([id, tag]) => this.sent.get(id) !== tag).map(([id]) => `changed: ${id}`),
    ]
  }
}

/**
 * Lets clients create plants, and delete each second one, until `isOver` or until the service is gone. The request id is
 * `create-` or `delete-` and the id of the plant.
 * @param isOver asked before each request
 */
export async function work(
  port: number,
  token: string,
  ledger: Ledger,
  isOver: () => boolean,
  clients = 8,
): Promise<void> {
  const agent = new Agent({ keepAlive: true })
  const send = async (what: 'create' | 'delete', id: number): Promise<number> => {
    const tag = ledger.sent.get(id)
    const headers = { 'X-Request-Id': `${what}-${id}` }
    const { status } = await (what === 'create'
      ? call(port, { method: 'POST', path: '/plants', token, headers, agent, body: { id, name: 'plant', tag } })
      : call(port, { method: 'DELETE', path: `/plants/${id}`, token, headers, agent }))
    ledger.statuses.set(status, (ledger.statuses.get(status) ?? 0) + 1)
    if (![200, 204, 503].includes(status)) throw new Error(`${what} ${id} was answered ${status}`)
    return status
  }
  const client = async () => {
    while (!isOver()) {
      const id = ledger.sent.size
      ledger.sent.set(id, `${id} ${'🌵'.repeat(ledger.tagLength(id))}`)
      if ((await send('create', id)) !== 200) continue
      ledger.stored.add(id)
      if (id % 2 === 0 || isOver()) continue
      ledger.deleteSent.add(id)
      if ((await send('delete', id)) === 204) ledger.deleted.add(id)
    }
  }
  const gone = (error: unknown) => {
    if (!(error instanceof Error && 'code' in error)) throw error
  }
  await Promise.all(Array.from({ length: clients }, () => client().catch(gone)))
  agent.destroy()
}

/** Reads a database file. @returns the tags of an owner's plants by id, and the faults that SQLite finds in the file */
export function inspect(file: string, owner: string): { plants: Map<number, string>; faults: unknown[] } {
  const db = new DatabaseSync(file)
  try {
    const rows = db.prepare('SELECT key, item FROM plants WHERE owner = ?').all(owner)
    const plants = rows.map(({ key, item }) => {
      const { tag }: { tag?: string } = JSON.parse(String(item))
      return [Number(key), tag ?? ''] as const
    })
    const found = db.prepare('PRAGMA integrity_check').all()
    const faults = found.map(({ integrity_check }) => integrity_check).filter((each) => each !== 'ok')
    return { plants: new Map(plants), faults }
  } finally {
    db.close()
  }
}
