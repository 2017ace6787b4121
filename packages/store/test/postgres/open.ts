// Stores on a PostgreSQL server of a test, each on a new database.
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import type { Test } from 'tap'
import type { Server } from '../../../../test/support/postgres/server.ts'
import { startRelay } from '../../../../test/support/postgres/relay.ts'
import { openTestStore } from '../../../../test/support/stores/open-store.ts'

export const limits = (DATABASE_POOL_SIZE: number, DATABASE_TIMEOUT = 1) => ({
  DATABASE_POOL_SIZE,
  DATABASE_TIMEOUT,
})
export const name = (text: string | number) => ({ name: String(text) })
/**
 * The URL for the guest. As behind a pooler, its sessions can't be set up, and do not know their
 * processes.
 */
export const asGuest = (url: string) => url.replace('admin@', 'guest:secret@')

/**
 * Opens a store over a relay, and two administrator's connections without it. @param change of the
 * store's URL
 */
export async function open(
  t: Test,
  server: Server,
  settings = limits(3),
  change = (url: string) => url,
) {
  const url = await server.createDatabase()
  const administrator = async () => {
    const client = new pg.Client({ connectionString: url, application_name: 'administrator' })
    client.on('error', () => undefined)
    await client.connect()
    t.teardown(() => client.end())
    return async (text: string) => (await client.query<Record<string, unknown>>(text)).rows
  }
  const [sql, look] = [await administrator(), await administrator()] // in a transaction `sql` would see no changes
  await sql('GRANT CREATE ON SCHEMA public TO guest; REVOKE SELECT ON pg_stat_activity FROM PUBLIC')
  const sent: Buffer[] = []
  const relay = await startRelay(t, change(url), (bytes) => sent.push(bytes))
  const store = await openTestStore({ url: relay.url }, { settings })
  t.teardown(() => store.close())
  /** The connections at the server, without those of administrators. */
  const count = async () => {
    const [row] = await look(
      `SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'
        AND (datname = current_database() OR datname IS NULL) AND application_name IS DISTINCT FROM 'administrator'`,
    )
    return Number(row?.['count'])
  }
  let [most, isOver] = [0, false]
  const counting = async () => {
    while (!isOver) {
      most = Math.max(most, await count())
      await delay(5)
    }
  }
  const counted = counting().catch(() => undefined) // the server was crashed
  t.teardown(async () => {
    isOver = true
    await counted
  })
  return {
    url,
    store,
    relay,
    sql,
    count,
    most: () => most,
    /** How often a string was sent to the server. */
    timesSent: (text: string) => Buffer.concat(sent).toString('latin1').split(text).length - 1,
    stats: () => store.stats().pool,
    /** Makes commits wait for a standby that does not exist, or no longer. */
    loseStandby: async (isLost: boolean) => {
      await sql(`ALTER SYSTEM SET synchronous_standby_names = '${isLost ? 'nobody' : ''}'`)
      await sql('SELECT pg_reload_conf()')
    },
    /** Waits until a statement matching `like` waits. @returns the id of its process */
    waiting: async (like: string, event = 'Lock'): Promise<number> => {
      for (;;) {
        const text = `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
          AND query LIKE '${like}%' AND wait_event_type = '${event}'`
        const [row] = await look(text)
        if (row !== undefined) return Number(row['pid'])
        await delay(10)
      }
    },
  }
}
