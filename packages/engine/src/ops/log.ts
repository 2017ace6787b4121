// The log on standard output: JSON lines, or readable ones on a terminal. No request waits for the
// reader of the log, and the end of the process waits only a short time. pino.destination does not
// fit: whenever a pipe is full, it pauses for 100 ms, and drops lines though the reader is fast
// enough.
import { fstatSync, write as writeFile } from 'node:fs'
import { Writable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { type Logger, pino } from 'pino'
import { Counter, METRIC_PREFIX } from '../http/metrics.ts'
import { prettyPrint } from './pretty-print.ts'

/** Characters to collect before a write. */
const MIN_WRITE = 4096
/** Milliseconds after which fewer characters are written. */
const WRITE_INTERVAL = 100
/** The most bytes waiting for the reader; on a pipe, the most characters. */
const MAX_WAITING = 8 * 1024 * 1024
/** Milliseconds for which `exit` waits for the reader. */
const EXIT_TIMEOUT = 500

const DROPPED = new Counter({
  name: `${METRIC_PREFIX}dropped_log_lines_total`,
  help: 'Lines of the log that were dropped because nobody read it',
})

export const isTerminal = process.stdout.isTTY
// process.stdout does not block on a pipe. But it blocks on a stopped terminal, and a full disk
// closes it for good.
const output = isTerminal || fstatSync(1).isFile() ? new Writable({ writev }) : process.stdout
/** Errors after which a write is tried again: a stopped terminal, and a full disk. */
const TEMPORARY = ['EAGAIN', 'ENOSPC', 'EDQUOT', 'EFBIG']

const destination = {
  flush,
  write: isTerminal ? (line: string) => write(prettyPrint(line)) : write,
}

/** The log of this process. Its level is set after the configuration has been read. */
export const log: Logger = pino({}, destination)

let collected = ''
let timer: NodeJS.Timeout | undefined
/** Whether a thread is writing. Between two attempts to write to a full disk, it is not. */
let isInThread = false
let isClosed = false

output.on('error', () => (isClosed = true))

function write(line: string): void {
  if (isClosed) return
  if (output.writableLength > MAX_WAITING) DROPPED.inc()
  else collected += line
  if (collected.length < MIN_WRITE) timer ??= setTimeout(flush, WRITE_INTERVAL).unref()
  else flush()
}

function flush(): void {
  clearTimeout(timer)
  timer = undefined
  if (collected !== '') output.write(collected)
  collected = ''
}

/**
 * Writes all waiting pieces together. One by one, every piece would take a turn of the event loop.
 */
function writev(pieces: { chunk: Buffer }[], done: (error?: Error | null) => void): void {
  writeInThread(Buffer.concat(pieces.map(({ chunk }) => chunk)), done)
}

/** Writes bytes in a thread, and repeats the write for the bytes not taken by the system. */
function writeInThread(bytes: Buffer, done: (error?: Error | null) => void): void {
  isInThread = true
  writeFile(1, bytes, (error, count) => {
    isInThread = false
    if (TEMPORARY.includes(error?.code ?? ''))
      setTimeout(writeInThread, WRITE_INTERVAL, bytes, done).unref()
    else if (!error && count < bytes.length) writeInThread(bytes.subarray(count), done)
    else done(error)
  })
}

/** Ends the process soon, even if nobody reads the log. */
export async function exit(code: number): Promise<never> {
  for (let left = EXIT_TIMEOUT; left > 0; left -= 10) {
    flush()
    if (isClosed || output.writableLength === 0) break
    await delay(10)
  }
  // process.exit would wait for the writing thread.
  if (isInThread) process.kill(process.pid, 'SIGKILL')
  process.exit(code)
}
