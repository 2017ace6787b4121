// Clients that create items, change some and delete half of them. A ledger records their answers and compares them with a
// database. An item is a plant or a note.
import { Agent } from 'node:http'
import { DatabaseSync } from 'node:sqlite'
import { request } from '../servers/start-product.ts'
import { itemsOf, toCall } from './simultaneous-clients.ts'
import { parse } from '../inner/json.ts'

/** Records the requests of one caller's clients, and the answers. Each item is created, changed and deleted at most once. */
export class Ledger {
  /** How long an item's name is, after its id. Some of them together do not fit into one page of the database. */
  readonly nameLength: (id: number) => number
  /** The names of all items for which a create was sent, by id. */
  readonly sent = new Map<number, string>()
  /** The items whose create was answered 200; whose change or delete was sent; whose change or delete was answered. */
  readonly stored = new Set<number>()
  readonly changeSent = new Set<number>()
  readonly changed = new Set<number>()
  readonly deleteSent = new Set<number>()
  readonly deleted = new Set<number>()
  /** How often each status was answered. */
  readonly statuses = new Map<number, number>()

  constructor(nameLength = (id: number) => (id * 37) % 240) {
    this.nameLength = nameLength
  }

  /** How many writes were acknowledged. */
  get acknowledged(): number {
    return this.stored.size + this.changed.size + this.deleted.size
  }

  /** The lost, undone and changed items of a store. @param items the names of its items by id; `+` stands for a change */
  violations(items: ReadonlyMap<number, string>): string[] {
    const isSent = (id: number, name: string) =>
      this.sent.get(id) === name || (this.changeSent.has(id) && `${this.sent.get(id)}+` === name)
    const isUndone = (id: number) => items.get(id)?.endsWith('+') === false
    return [
      ...[...this.stored]
        .filter((id) => !this.deleteSent.has(id) && !items.has(id))
        .map((id) => `lost: ${id}`),
      ...[...this.changed].filter(isUndone).map((id) => `change lost: ${id}`),
      ...[...this.deleted].filter((id) => items.has(id)).map((id) => `delete undone: ${id}`),
      ...[...items].filter(([id, name]) => !isSent(id, name)).map(([id]) => `changed: ${id}`),
    ]
  }
}

/**
 * Lets clients create items, and delete each second one, until `isOver` or until the service is gone. The request id is
 * `create-`, `change-` or `delete-` and the id of the item. Each third item is a note, and each third one is changed.
 * @param options `isOver`: asked before each request; `clients`: how many there are
 */
export async function work(
  port: number,
  token: string,
  ledger: Ledger,
  { isOver, clients = 8 }: { isOver: () => boolean; clients?: number },
): Promise<void> {
  const agent = new Agent({ keepAlive: true })
  const send = async (what: 'create' | 'change' | 'delete', id: number): Promise<number> => {
    const collection = id % 3 === 1 ? 'notes' : 'plants'
    const call = toCall({
      kind: what === 'change' ? 'update' : what,
      collection,
      id,
      name: ledger.sent.get(id) ?? '',
    })
    const headers = { 'X-Request-Id': `${what}-${id}` }
    const { status } = await request(port, { ...call, token, headers, agent })
    ledger.statuses.set(status, (ledger.statuses.get(status) ?? 0) + 1)
    if (![200, 204, 503].includes(status)) throw new Error(`${what} ${id} was answered ${status}`)
    return status
  }
  const client = async () => {
    while (!isOver()) {
      const id = ledger.sent.size
      ledger.sent.set(id, `${id} ${'🌵'.repeat(ledger.nameLength(id))}`)
      if ((await send('create', id)) !== 200) continue
      ledger.stored.add(id)
      if (Math.floor(id / 3) % 3 === 1 && !isOver()) {
        ledger.changeSent.add(id)
        if ((await send('change', id)) === 200) ledger.changed.add(id)
      }
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

/** The names of an owner's items by id, as the service lists them; `+` stands for a change. */
export async function listItems(port: number, token: string): Promise<Map<number, string>> {
  const answers = await Promise.all(
    ['/plants', '/notes'].map((path) => request(port, { path, token })),
  )
  return new Map(answers.flatMap(({ json }) => [...itemsOf(json)]))
}

/** Reads a database file. @returns the names of an owner's items by id, and SQLite's errors of the file */
export function inspect(
  file: string,
  owner: string,
): { items: Map<number, string>; faults: unknown[] } {
  const db = new DatabaseSync(file)
  try {
    const items = ['plants', 'notes'].flatMap((table) => {
      const isMissing =
        db.prepare('SELECT 1 FROM sqlite_schema WHERE name = ?').get(table) === undefined
      const rows = isMissing
        ? []
        : db.prepare(`SELECT item FROM ${table} WHERE owner = ? ORDER BY key`).all(owner)
      return [...itemsOf(rows.map(({ item }) => parse(String(item))))]
    })
    const integrity = db.prepare('PRAGMA integrity_check').all()
    const faults = integrity
      .map(({ integrity_check }) => integrity_check)
      .filter((fault) => fault !== 'ok')
    return { items: new Map(items), faults }
  } finally {
    db.close()
  }
}
