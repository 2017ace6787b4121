import { execFileSync } from 'node:child_process'
import { closeSync, constants, openSync, writeSync } from 'node:fs'
import type { Test } from 'tap'

/** Opens a pipe that is full and that nobody reads. @param folder a folder for its name @returns its file descriptor */
export function unreadPipe(t: Test, folder: string): number {
  const path = `${folder}/unread`
  execFileSync('mkfifo', [path])
  const pipe = openSync(path, constants.O_RDWR | constants.O_NONBLOCK)
  t.teardown(() => closeSync(pipe))
  try {
    for (;;) writeSync(pipe, 'x'.repeat(1024))
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EAGAIN')) throw error
  }
  // A write to this end waits, as to any full pipe.
  const end = openSync(path, constants.O_WRONLY)
  t.teardown(() => closeSync(end))
  return end
}
