import type { StoredToken } from '../engine/store.ts'

/** A row of a database, by its columns. */
export type Row = Readonly<Record<string, unknown>>

/** The columns of an access token. Times are in milliseconds since 1970; spaces separate the scopes. */
export function fromToken({ id, caller, created, expires, digest, scopes }: StoredToken) {
  return [
    id,
    caller,
    created.getTime(),
    expires?.getTime() ?? null,
    digest,
    scopes.join(' '),
  ] as const
}

/** The access token of a row. */
export function toToken({ id, caller, created, expires, digest, scopes }: Row): StoredToken {
  const end = expires === null ? {} : { expires: new Date(Number(expires)) }
  return {
    id: String(id),
    caller: String(caller),
    created: new Date(Number(created)),
    ...end,
    digest: new Uint8Array(digest as Uint8Array), // the column holds bytes
    scopes: typeof scopes === 'string' ? scopes.split(' ').filter(Boolean) : [], // NULL in tokens of version 1
  }
}
