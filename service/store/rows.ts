import type { Entry, Plant, StoredToken } from './store.ts'

/** A row of a database, by its columns. */
export type Row = Readonly<Record<string, unknown>>

/** The plant of a row that has the column `plant`. It is stored as the JSON that callers get. */
export const toPlant = (row: Row | undefined) => JSON.parse(String(row?.['plant'])) as Plant // as the store wrote it

/** The id of a row that has the column `id`. */
export const toId = ({ id }: Row) => BigInt(String(id))

export const toEntry = (row: Row): Entry => ({ owner: String(row['owner']), id: toId(row), plant: toPlant(row) })

/** The columns of an access token. Times are in milliseconds since 1970; spaces separate the scopes. */
export function fromToken({ id, caller, created, expires, digest, scopes }: StoredToken) {
  return [id, caller, created.getTime(), expires?.getTime() ?? null, digest, scopes.join(' ')] as const
}

/** The access token of a row. */
export function toToken({ id, caller, created, expires, digest, scopes }: Row): StoredToken {
  const end = expires === null ? {} : { expires: new Date(Number(expires)) }
  const bytes = new Uint8Array(digest as Uint8Array) // the column holds bytes
  return {
    id: String(id),
    caller: String(caller),
    created: new Date(Number(created)),
    ...end,
    digest: bytes,
    scopes: typeof scopes === 'string' ? scopes.split(' ').filter(Boolean) : [], // NULL in tokens of version 1
  }
}
