// `node check.ts <file>` prints what SQLite finds wrong with a database file, as JSON. It is a process of its own: a check
// takes as long as it takes to read the file, and only a kill ends it earlier.
import { execFile } from 'node:child_process'
import { setPriority } from 'node:os'
import { DatabaseSync } from 'node:sqlite'
import { reasonOf } from '../../errors.ts'
import type { Monitor } from '../store.ts'
import { isCorrupt } from './errors.ts'

/** Milliseconds after the start of a service, which has much to do at first. */
const DELAY = 1000

/** What SQLite finds wrong with a database (https://sqlite.org/pragma.html#pragma_quick_check); nothing if it is sound. */
export function findFaults(db: DatabaseSync, how: 'quick_check' | 'integrity_check'): string[] {
  try {
    const lines = db.prepare(`PRAGMA ${how}(10)`).all()
    return lines.map((line) => String(line[how])).filter((line) => line !== 'ok')
  } catch (error) {
    if (!isCorrupt(error)) throw error
    return [reasonOf(error)] // a damaged page has broken the check off
  }
}

/** Checks a file in the background, once. @param done gets what was found, unless the check could not be carried out */
export function startCheck(
  file: string,
  signal: AbortSignal,
  log: Pick<Monitor['log'], 'warn'>,
  done: (faults: string[]) => void,
): void {
  const start = () => {
    if (signal.aborted) return
    execFile(process.execPath, [import.meta.filename, file], { signal }, (error, stdout) => {
      if (error === null)
        done(JSON.parse(stdout) as string[]) // as it is printed below
      else if (!signal.aborted) log.warn({ err: error }, 'the database could not be checked')
    })
  }
  setTimeout(start, DELAY).unref()
}

if (import.meta.main) {
  setPriority(19)
  const db = new DatabaseSync(process.argv[2] ?? '', { readOnly: true, timeout: 5000 })
  console.log(JSON.stringify(findFaults(db, 'quick_check')))
}
