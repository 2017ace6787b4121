import { setTimeout as delay } from 'node:timers/promises'
import { DatabaseSync } from 'node:sqlite'
import type { OpenContext } from '@plant-store/engine'

/** Changes of notes, in a database of the product. */
export type Changes = Awaited<ReturnType<typeof openChanges>>

/** Opens the file of `CHANGES_FILE`; without it, the changes are kept in memory. */
export async function openChanges({ env, log, metrics }: OpenContext) {
  const { CHANGES_FILE: file = ':memory:', CHANGES_HANG: hanging = '' } = env
  // The tests let a call hang.
  const mayHang = async (call: string) => {
    if (hanging.includes(call)) await delay(2 ** 31 - 1)
  }
  await mayHang('open')
  const database = new DatabaseSync(file)
  database.exec('CREATE TABLE IF NOT EXISTS changes (caller TEXT NOT NULL, note TEXT NOT NULL)')
  const insert = database.prepare('INSERT INTO changes (caller, note) VALUES (?, ?)')
  const count = database.prepare('SELECT count(*) AS count FROM changes WHERE caller = ?')
  count.setReadBigInts(true)
  const added = metrics.counter({ name: 'changes_total', help: 'Changes of notes' })
  log.debug({ file }, 'changes are kept')
  return {
    add(caller: string, note: string): void {
      insert.run(caller, note)
      added.inc()
    },
    count: (caller: string) => count.get(caller)?.['count'] as bigint, // as setReadBigInts says
    check: async () => {
      await mayHang('check')
      count.get('')
    },
    close: async () => {
      await mayHang('close')
      database.close()
      log.debug('changes are closed')
    },
  }
}
