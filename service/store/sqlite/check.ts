// `node check.ts <file>` prints what SQLite finds wrong with a database file, as JSON. It is a process of its own, because
// the check takes as long as it takes to read the file, and nothing but a kill ends it.
import { execFile } from 'node:child_process'
import { setPriority } from 'node:os'
import { DatabaseSync } from 'node:sqlite'

/** Milliseconds after the start of a service: others start at the same time. */
const DELAY = 1000

/**
 * What SQLite finds wrong with a database: nothing, if it is sound.
 * @param how `quick_check` reads every page but compares no index with its table (https://sqlite.org/pragma.html#pragma_quick_check)
 */
export function findFaults(db: DatabaseSync, how: 'quick_check' | 'integrity_check'): string[] {
  const lines = db.prepare(`PRAGMA ${how}(10)`).all()
  return lines.map((line) => String(line[how])).filter((line) => line !== 'ok')
}

/**
 * Checks a file in the background, once.
 * @param done gets what was found, or why it could not be checked
 * @returns what stops the check
 */
export function startCheck(file: string, done: (faults: string[] | Error) => void): () => void {
  const stop = new AbortController()
  const start = setTimeout(() => {
    execFile(process.execPath, [import.meta.filename, file], { signal: stop.signal }, (error, stdout) => {
      if (!stop.signal.aborted) done(error ?? (JSON.parse(stdout) as string[])) // as it is printed below
    })
  }, DELAY)
  start.unref()
  return () => {
    clearTimeout(start)
    stop.abort()
  }
}

if (import.meta.main) {
  setPriority(19)
  const db = new DatabaseSync(process.argv[2] ?? '', { readOnly: true, timeout: 5000 })
  console.log(JSON.stringify(findFaults(db, 'quick_check')))
}
