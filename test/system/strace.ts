// Runs programs under strace: their calls to the disk are recorded, or fail.
import { existsSync, readFileSync } from 'node:fs'
import { eventually } from '../support/processes/eventually.ts'

/** The effects of a process on its disk, and its answers, in order. */
export type Event =
  | { readonly what: 'write'; readonly path: string; readonly at: number; readonly bytes: Buffer }
  | { readonly what: 'truncate'; readonly path: string; readonly size: number }
  | { readonly what: 'rename'; readonly path: string; readonly to: string }
  | {
      readonly what: 'make' | 'makeFolder' | 'remove' | 'sync' | 'failedSync'
      readonly path: string
    }
  | { readonly what: 'answer'; readonly status: number; readonly requestId: string }
  | { readonly what: 'print'; readonly text: string }

const CALLS = [
  ...[
    'openat',
    'mkdir',
    'mkdirat',
    'unlink',
    'unlinkat',
    'rename',
    'renameat',
    'renameat2',
    'link',
    'linkat',
  ],
  ...[
    'write',
    'writev',
    'pwrite64',
    'pwritev',
    'pwritev2',
    'sendto',
    'sendmsg',
    'truncate',
    'ftruncate',
    'fallocate',
  ],
  ...['fsync', 'fdatasync', 'sync_file_range', 'sync', 'syncfs', 'msync', 'copy_file_range'],
]

/** The process stays the child of the tests: signals reach it, and its end is theirs to see. */
const STRACE = ['strace', '-D', '--quiet=attach,personality', '-o']

/**
 * A command whose main thread, which is where SQLite and the sockets of the service are, is watched.
 * @param trace the file for the record
 * @param inject faults, as strace takes them, or -f to watch all threads
 */
export function watched(
  trace: string,
  command: readonly string[],
  inject: readonly string[] = [],
): string[] {
  return [
    ...STRACE,
    trace,
    '-y',
    '-xx',
    '-s',
    '1000000',
    '-e',
    `trace=${CALLS.join()}`,
    ...inject,
    ...command,
  ]
}

/** The words before a command some of whose calls fail. @param paths the files @param inject calls and fault, for strace */
export function injected(trace: string, paths: readonly string[], inject: string): string[] {
  const calls = /^[^:]*/.exec(inject)?.[0] ?? ''
  return [
    ...STRACE,
    trace,
    ...paths.flatMap((path) => ['-P', path]),
    '-e',
    `trace=${calls}`,
    '-e',
    `inject=${inject}`,
  ]
}

/** Waits until strace has written everything. */
export async function wholeTrace(trace: string): Promise<string> {
  const read = () => (existsSync(trace) ? readFileSync(trace, 'latin1') : '')
  await eventually(() => /\n(?:\d+ +)?\+\+\+ [^\n]+\n$/.test(`\n${read()}`))
  return read()
}

/** Reads the calls below a folder, and the answers, when the process has ended. */
export async function readTrace(trace: string, folder: string): Promise<Event[]> {
  return (await wholeTrace(trace)).split('\n').flatMap((line) => eventsOf(line, folder))
}

/** A call of the system, as a line shows it. */
interface SystemCall {
  readonly line: string
  /** Undefined for a line without a call. */
  readonly name: string | undefined
  /** Its parameters. */
  readonly words: string
  /** The strings among them. */
  readonly strings: readonly Buffer[]
  /** Its file: the first parameter, or the file of its descriptor. */
  readonly path: string
  readonly descriptor: string | undefined
  /** Its result; NaN if it did not return. */
  readonly result: number
}

function readCall(line: string): SystemCall {
  const [, name, words = '', result] = /^(?:\d+ +)?(\w+)\((.*)\) += (-?\d+)/.exec(line) ?? []
  const quoted = words.matchAll(/"((?:\\x[0-9a-f]{2})*)"/g)
  const strings = [...quoted].map(([, hex = '']) => bytesOf(hex))
  const [, descriptor, shown = ''] = /^(-?\d+)<([^>]*)>/.exec(words) ?? []
  const path = String(descriptor === undefined ? strings[0] : bytesOf(shown))
  return { line, name, words, strings, path, descriptor, result: Number(result) }
}

function eventsOf(line: string, folder: string): Event[] {
  const call = readCall(line)
  const { name, path, result } = call
  if (!path.startsWith(folder)) return eventsOfOutput(call)
  const isDone = result >= 0
  const isSync = name === 'fsync' || name === 'fdatasync'
  if (isSync) return [{ what: isDone ? 'sync' : 'failedSync', path }]
  return isDone ? eventsOfFile(call) : []
}

/** The output or the answer of a write to a stream or a socket. */
function eventsOfOutput({ name, strings, descriptor }: SystemCall): Event[] {
  if (name !== 'write' && name !== 'writev') return []
  const sent = Buffer.concat(strings).toString('latin1')
  if (descriptor === '2') return [{ what: 'print', text: sent }]
  const heads = [...sent.matchAll(/HTTP\/1\.1 (\d{3}) [^]*?\r\nx-request-id: (\S+)\r\n/gi)]
  return heads.map(([, status, requestId = '']) => ({
    what: 'answer',
    status: Number(status),
    requestId,
  }))
}

/** The effect of a successful call on a file. */
function eventsOfFile({ line, name, words, strings, path, result }: SystemCall): Event[] {
  const last = Number(/(\d+)$/.exec(words)?.[1])
  switch (name) {
    case 'openat':
      return words.includes('O_CREAT') ? [{ what: 'make', path }] : []
    case 'mkdir':
      return [{ what: 'makeFolder', path }]
    case 'unlink':
      return [{ what: 'remove', path }]
    case 'rename':
      return [{ what: 'rename', path, to: String(strings[1]) }]
    case 'pwrite64':
      return [{ what: 'write', path, at: last, bytes: Buffer.concat(strings).subarray(0, result) }]
    case 'ftruncate':
      return [{ what: 'truncate', path, size: last }]
    default:
      throw new Error(`a call that the simulated disk does not know: ${line.slice(0, 200)}`)
  }
}

/** strace writes each byte as \\xhh, in the names of files too; the brackets of a descriptor may hold plain text. */
function bytesOf(text: string): Buffer {
  return text.includes('\\x') ? Buffer.from(text.replaceAll('\\x', ''), 'hex') : Buffer.from(text)
}
