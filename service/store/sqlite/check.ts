// `node check.ts <file>` prints the faults that SQLite finds in a database file, as JSON. It is a separate process: the
// check reads the whole file, and only a kill ends it earlier.
import { type ChildProcess, execFile } from 'node:child_process'
import { setPriority } from 'node:os'
import { DatabaseSync } from 'node:sqlite'
import { reasonOf } from '../../errors.ts'
import type { Monitor } from '../store.ts'
import { isCorrupt } from './errors.ts'

/** Milliseconds after the start of the service, which is busy at first. */
const START_DELAY = 1000

/** The faults that SQLite finds in a database (https://sqlite.org/pragma.html#pragma_quick_check); none if it is sound. */
export function findFaults(db: DatabaseSync, how: 'quick_check' | 'integrity_check'): string[] {
  try {
    const lines = db.prepare(`PRAGMA ${how}(10)`).all()
    return lines.map((line) => String(line[how])).filter((line) => line !== 'ok')
  } catch (error) {
    if (!isCorrupt(error)) throw error
    return [reasonOf(error)] // a damaged page stopped the check
  }
}

/**
 * Checks a file once, in the background.
 * @param done gets the faults. It is not called if the check could not run
 * @returns ends the check. Close the file after that: SQLite keeps the log while another process has the file open
 */
export function startCheck(
  file: string,
  log: Pick<Monitor['log'], 'warn'>,
  done: (faults: string[]) => void,
): () => Promise<void> {
  let child: ChildProcess | undefined
  let isStopped = false
  const { promise: ended, resolve } = Promise.withResolvers<undefined>()
  const start = () => {
    child = execFile(process.execPath, [import.meta.filename, file], (error, stdout) => {
      resolve(undefined)
      if (isStopped) return
      if (error === null)
        done(JSON.parse(stdout) as string[]) // as it is printed below
      else log.warn({ err: error }, 'the database could not be checked')
    })
  }
  const timer = setTimeout(start, START_DELAY).unref()
  return async () => {
    isStopped = true
    clearTimeout(timer)
    if (child?.kill('SIGKILL') === true) await ended
  }
}

if (import.meta.main) {
  setPriority(19)
  const db = new DatabaseSync(process.argv[2] ?? '', { readOnly: true, timeout: 5000 })
  console.log(JSON.stringify(findFaults(db, 'quick_check')))
}
