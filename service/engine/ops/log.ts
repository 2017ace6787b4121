// The log on standard output: JSON lines, or readable ones on a terminal. No request waits for the reader of the log,
// and the end of the process waits only a short time. pino.destination does not fit: whenever a pipe is full, it pauses
// for 100 ms, and so drops lines although the reader is fast enough.
import { fstatSync, write as writeFile } from 'node:fs'
import { Writable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { type Logger, pino } from 'pino'
import { Counter, OWN } from '../http/metrics.ts'
import { readable } from './readable.ts'

/** Characters that are collected before a write. */
const MIN_WRITE = 4096
/** Milliseconds after which fewer characters are written, too. */
const WRITE_INTERVAL = 100
/** Bytes that may wait for the reader; characters on a pipe. */
const MAX_WAITING = 8 * 1024 * 1024
/** Milliseconds that `exit` waits for the reader. */
const EXIT_TIMEOUT = 500

const DROPPED = new Counter({
  name: `${OWN}dropped_log_lines_total`,
  help: 'Lines of the log that were dropped because nobody read it',
})

export const isTerminal = process.stdout.isTTY
// process.stdout does not block on a pipe. But it blocks on a stopped terminal, and a full disk closes it for good.
const output = isTerminal || fstatSync(1).isFile() ? new Writable({ writev }) : process.stdout
/** The errors after which a write is tried again: a stopped terminal, and a full disk. */
const TEMPORARY = ['EAGAIN', 'ENOSPC', 'EDQUOT', 'EFBIG']

const destination = { flush, write: isTerminal ? (line: string) => write(readable(line)) : write }

/** The log of this process. Its level is set when the configuration has been read. */
export const log: Logger = pino({}, destination)

let collected = ''
let timer: NodeJS.Timeout | undefined
/** Whether a thread is writing: not while it waits for room on the disk. */
let isInThread = false
/** Whether the reader is gone. */
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

/** Writes all pieces that wait at once. One by one, each would take a turn of the event loop. */
function writev(pieces: { chunk: Buffer }[], done: (error?: Error | null) => void): void {
  writeInThread(Buffer.concat(pieces.map(({ chunk }) => chunk)), done)
}

/** Writes bytes, and writes those again that were not taken. */
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

/** Ends the process soon, whether or not the log is read. */
export async function exit(code: number): Promise<never> {
  for (let left = EXIT_TIMEOUT; left > 0; left -= 10) {
    flush()
    if (isClosed || output.writableLength === 0) break
    await delay(10)
  }
  // process.exit would wait for the thread that writes.
  if (isInThread) process.kill(process.pid, 'SIGKILL')
  process.exit(code)
}
