import type { DatabaseSync, StatementSync } from 'node:sqlite'

/**
 * Prepares the statements of the store. `createTagStore()` of node:sqlite does so by itself. But in Node 24 its statements
 * stay open when the database is closed, and keep the file, the log and a transaction open.
 */
export function prepareStatements(db: DatabaseSync) {
  return {
    create: db.prepare('INSERT INTO plants (owner, id, plant) VALUES (?, ?, ?) ON CONFLICT DO NOTHING'),
    find: db.prepare('SELECT plant FROM plants WHERE owner = ? AND id = ?'),
    update: db.prepare('UPDATE plants SET plant = ? WHERE owner = ? AND id = ?'),
    delete: db.prepare('DELETE FROM plants WHERE owner = ? AND id = ?'),
    entries: db.prepare(`SELECT owner, id, plant FROM plants WHERE (owner, id) > (?, ?) ORDER BY owner, id LIMIT ?`),
    addToken: db.prepare(`INSERT INTO tokens (id, caller, created, expires, digest, scopes) VALUES (?, ?, ?, ?, ?, ?)`),
    findToken: db.prepare('SELECT * FROM tokens WHERE digest = ?'),
    listTokens: db.prepare('SELECT * FROM tokens ORDER BY created, id'),
    deleteToken: db.prepare('DELETE FROM tokens WHERE id = ?'),
    first: db.prepare('SELECT 1 FROM plants UNION ALL SELECT 1 FROM tokens LIMIT 1'),
  } satisfies Record<string, StatementSync>
}

/** The prepared statements of a connection. */
export type Statements = ReturnType<typeof prepareStatements>
