// The log on standard output: JSON lines, or readable ones on a terminal. No request waits for the reader of the log, and
// the end of the process waits only a short time.
import { fstatSync, write as writeFile } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { type Logger, pino } from 'pino'
import { Counter } from '../http/metrics.ts'
import { readable } from './readable.ts'

/** Characters that are collected before a write. */
const MIN_WRITE = 4096
/** Milliseconds after which fewer characters are written, too. */
const WRITE_INTERVAL = 100
/** Characters that may wait for the reader. */
const MAX_WAITING = 8 * 1024 * 1024
/** Milliseconds that `exit` waits for the reader. */
const EXIT_TIMEOUT = 500

const DROPPED = new Counter({
  name: 'plants_dropped_log_lines_total',
  help: 'Lines of the log that were dropped because nobody read it',
})

export const isTerminal = process.stdout.isTTY
// process.stdout does not block on a pipe. But it blocks on a stopped terminal, and is closed for good by a full disk.
// There, a thread writes instead.
const usesThread = isTerminal || fstatSync(1).isFile()
/** The errors after which a write is tried again: a stopped terminal, and a full disk. */
const TEMPORARY = ['EAGAIN', 'ENOSPC', 'EDQUOT', 'EFBIG']

/** The log of this process. Its level is set when the configuration has been read. */
export const log: Logger = pino({}, { write: isTerminal ? (line) => write(readable(line)) : write })

if (!usesThread) process.stdout.on('error', () => (isClosed = true))
let waiting = ''
let dropped = 0
let isWriting = false
/** Whether a thread is writing: not while it waits for room on the disk. */
let isInThread = false
/** Whether the reader is gone. */
let isClosed = false
let timer: NodeJS.Timeout | undefined

function write(line: string): void {
  if (isClosed) return
  if (waiting.length > MAX_WAITING) {
    DROPPED.inc()
    dropped += 1
    return
  }
  waiting += line
  if (waiting.length < MIN_WRITE) timer ??= setTimeout(flush, WRITE_INTERVAL).unref()
  else flush()
}

function flush(): void {
  clearTimeout(timer)
  timer = undefined
  if (isWriting || waiting === '') return
  const text = waiting
  waiting = ''
  isWriting = true
  if (usesThread) writeBytes(Buffer.from(text))
  else process.stdout.write(text, written)
}

/** Writes bytes from a thread, and writes those again that were not taken. */
function writeBytes(bytes: Buffer): void {
  isInThread = true
  writeFile(1, bytes, (error, count) => {
    isInThread = false
    if (TEMPORARY.includes(error?.code ?? '')) setTimeout(writeBytes, WRITE_INTERVAL, bytes).unref()
    else if (!error && count < bytes.length) writeBytes(bytes.subarray(count))
    else written(error)
  })
}

function written(error?: Error | null): void {
  isWriting = false
  if (error) isClosed = true
  flush()
  if (dropped === 0) return
  const lines = dropped
  dropped = 0
  log.warn({ dropped: lines }, 'lines of the log were dropped because nobody read it')
}

/** Ends the process soon, whether or not the log is read. */
export async function exit(code: number): Promise<never> {
  for (let left = EXIT_TIMEOUT; left > 0; left -= 10) {
    flush()
    if (isClosed || !(isWriting || waiting !== '')) break
    await delay(10)
  }
  // process.exit would wait for the thread that writes.
  if (isInThread) process.kill(process.pid, 'SIGKILL')
  process.exit(code)
}
