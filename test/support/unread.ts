import { execFileSync } from 'node:child_process'
import { closeSync, constants, openSync, writeSync } from 'node:fs'
import type { Test } from 'tap'

/** A pipe that is open, full, and read by nobody. @param folder where it may be named @returns its file descriptor */
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
  // Who opens it for writing only is told to wait.
  const end = openSync(path, constants.O_WRONLY)
  t.teardown(() => closeSync(end))
  return end
}
