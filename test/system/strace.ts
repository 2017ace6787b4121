import { existsSync, readFileSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { eventually } from '../support/project.ts'

/** What a process did to its disk, and what it answered, in order. */
export type Event =
  | { readonly what: 'write'; readonly path: string; readonly at: number; readonly bytes: Buffer }
  | { readonly what: 'truncate'; readonly path: string; readonly size: number }
  | { readonly what: 'rename'; readonly path: string; readonly to: string }
  | { readonly what: 'make' | 'makeFolder' | 'remove' | 'sync' | 'failedSync'; readonly path: string }
  | { readonly what: 'answer'; readonly status: number; readonly requestId: string }
  | { readonly what: 'print'; readonly text: string }

const CALLS = [
  ...['openat', 'mkdir', 'mkdirat', 'unlink', 'unlinkat', 'rename', 'renameat', 'renameat2', 'link', 'linkat'],
  ...['write', 'writev', 'pwrite64', 'pwritev', 'pwritev2', 'sendto', 'sendmsg', 'truncate', 'ftruncate', 'fallocate'],
  ...['fsync', 'fdatasync', 'sync_file_range', 'sync', 'syncfs', 'msync', 'copy_file_range'],
]

/**
 * A command whose main thread, which is where SQLite and the sockets of the service are, is watched.
 * @param trace the file for what was seen
 * @param inject faults, as strace takes them, or -f to watch all threads
 */
export function watched(trace: string, command: readonly string[], inject: readonly string[] = []): string[] {
  // The process stays the child of the tests: signals reach it, and its end is theirs to see.
  const quiet = ['-D', '--quiet=attach,personality', '-o', trace]
  return ['strace', ...quiet, '-y', '-xx', '-s', '1000000', '-e', `trace=${CALLS.join()}`, ...inject, ...command]
}

/** Reads what was seen below a folder, and what was answered, when the process has ended. */
export async function readTrace(trace: string, folder: string): Promise<Event[]> {
  await eventually(() => existsSync(trace) && /\n(?:\d+ +)?\+\+\+ [^\n]+\n$/.test(readFileSync(trace, 'latin1')))
  return readFileSync(trace, 'latin1')
    .split('\n')
    .flatMap((line) => eventsOf(line, folder))
}

function eventsOf(line: string, folder: string): Event[] {
  const [, call = '', words = '', result = ''] = /^(?:\d+ +)?(\w+)\((.*)\) += (-?\d+)/.exec(line) ?? []
  const isDone = Number(result) >= 0
  const strings = [...words.matchAll(/"((?:\\x[0-9a-f]{2})*)"/g)].map(([, hex = '']) => bytesOf(hex))
  const [, descriptor = '', shown = ''] = /^(-?\d+)<([^>]*)>/.exec(words) ?? []
  const path = strings[0] === undefined || descriptor !== '' ? bytesOf(shown).toString() : strings[0].toString()
  if (!path.startsWith(folder) && call !== 'openat') {
    if (call !== 'write' && call !== 'writev') return []
    const text = Buffer.concat(strings).toString('latin1')
    return descriptor === '2' ? [{ what: 'print', text }] : answersIn(text)
  }
  switch (call) {
    case 'openat': {
      const [name = ''] = strings.map(String)
      const isOurs = isDone && name.startsWith(folder)
      return isOurs && words.includes('O_CREAT') ? [{ what: 'make', path: name }] : []
    }
    case 'mkdir':
      return isDone ? [{ what: 'makeFolder', path }] : []
    case 'unlink':
      return isDone ? [{ what: 'remove', path }] : []
    case 'rename':
      return isDone ? [{ what: 'rename', path, to: String(strings[1]) }] : []
    case 'pwrite64': {
      const at = Number(/(\d+)$/.exec(words)?.[1])
      return isDone ? [{ what: 'write', path, at, bytes: (strings[0] ?? Buffer.of()).subarray(0, Number(result)) }] : []
    }
    case 'ftruncate':
      return isDone ? [{ what: 'truncate', path, size: Number(/(\w+)$/.exec(words)?.[1]) }] : []
    case 'fsync':
    case 'fdatasync':
      return [{ what: isDone ? 'sync' : 'failedSync', path }]
    default:
      throw new Error(`a call that the simulated disk does not know: ${line.slice(0, 200)}`)
  }
}

/** strace writes each byte as \\xhh, in the names of files too; the brackets of a descriptor may hold plain text. */
function bytesOf(text: string): Buffer {
  return text.includes('\\x') ? Buffer.from(text.replaceAll('\\x', ''), 'hex') : Buffer.from(text)
}

function answersIn(text: string): Event[] {
  const heads = text.matchAll(/HTTP\/1\.1 (\d{3}) [^]*?\r\nx-request-id: (\S+)\r\n/gi)
  return [...heads].map(([, status, requestId = '']) => ({ what: 'answer', status: Number(status), requestId }))
}

/** A file as a disk has it, and what has been done to it since its last sync. */
interface File {
  bytes: Buffer
  pending: Extract<Event, { what: 'write' | 'truncate' }>[]
}

/** A name that got a file, another file or none; the file may have had another name in the same folder. */
interface Renamed {
  readonly path: string
  readonly file: File | 'folder' | undefined
  readonly from?: string
}

/** What a power cut keeps of a change that was not synced: each part of it, by a chance. */
export type Keeps = () => boolean

const SECTOR = 512

/** A disk that keeps what was synced, and of the rest what chance would have it; of file names too. */
export class Disk {
  readonly #folders: Set<string>
  /** The files by name, as a process sees them, and as they are on the disk. */
  readonly #seen = new Map<string, File>()
  readonly #named = new Map<string, File | 'folder'>()
  /** What was done to names since the sync of their folder. */
  #renamed: Renamed[] = []

  /**
   * @param folder one that is there
   * @param files that are there
   */
  constructor(folder: string, files: ReadonlyMap<string, Buffer> = new Map()) {
    this.#folders = new Set([folder])
    for (const [path, bytes] of files) {
      const file = { bytes, pending: [] }
      this.#seen.set(path, file)
      this.#named.set(path, file)
    }
  }

  apply(event: Event): void {
    switch (event.what) {
      case 'make':
        if (!this.#seen.has(event.path)) this.#name(event.path, { bytes: Buffer.of(), pending: [] })
        return
      case 'makeFolder':
        this.#folders.add(event.path)
        this.#renamed.push({ path: event.path, file: 'folder' })
        return
      case 'remove':
        this.#seen.delete(event.path)
        this.#renamed.push({ path: event.path, file: undefined })
        return
      case 'rename': {
        const file = this.#file(event.path)
        this.#seen.delete(event.path)
        this.#seen.set(event.to, file)
        this.#renamed.push({ path: event.to, file, from: event.path })
        return
      }
      case 'write':
      case 'truncate':
        this.#file(event.path).pending.push(event)
        return
      case 'failedSync':
        // Linux then takes what was not written for written.
        if (!this.#folders.has(event.path)) this.#file(event.path).pending = []
        return
      case 'sync':
        if (this.#folders.has(event.path)) this.#syncFolder(event.path)
        else {
          const file = this.#file(event.path)
          file.bytes = after(file, () => true)
          file.pending = []
        }
    }
  }

  /** The files that are there after a power cut. */
  cut(keeps: Keeps): Map<string, Buffer> {
    const named = new Map(this.#named)
    for (const each of this.#renamed) if (keeps()) rename(named, each)
    const files = [...named].flatMap(([path, file]) => (file === 'folder' ? [] : [[path, after(file, keeps)] as const]))
    // A file is lost with its folder.
    return new Map(files.filter(([path]) => this.#isThere(named, dirname(path))))
  }

  #isThere(named: ReadonlyMap<string, unknown>, folder: string): boolean {
    const [first = ''] = this.#folders
    return folder === first || (named.has(folder) && this.#isThere(named, dirname(folder)))
  }

  #name(path: string, file: File): void {
    this.#seen.set(path, file)
    this.#renamed.push({ path, file })
  }

  #file(path: string): File {
    const file = this.#seen.get(path)
    if (file === undefined) throw new Error(`${basename(path)} is not known`)
    return file
  }

  #syncFolder(folder: string): void {
    for (const each of this.#renamed) if (dirname(each.path) === folder) rename(this.#named, each)
    this.#renamed = this.#renamed.filter(({ path }) => dirname(path) !== folder)
  }
}

function rename(named: Map<string, File | 'folder'>, { path, file, from }: Renamed): void {
  if (from !== undefined) named.delete(from)
  if (file === undefined) named.delete(path)
  else named.set(path, file)
}

/** The bytes of a file after its changes, of which only some are kept; a write is kept or not by sectors. */
function after({ bytes, pending }: File, keeps: Keeps): Buffer {
  let result = Buffer.from(bytes)
  const resize = (size: number) => {
    const resized = Buffer.alloc(size)
    result.copy(resized)
    result = resized
  }
  for (const change of pending) {
    if (change.what === 'truncate') {
      if (keeps()) resize(change.size)
      continue
    }
    const { at, bytes } = change
    for (let from = at, to; from < at + bytes.length; from = to) {
      to = Math.min((Math.floor(from / SECTOR) + 1) * SECTOR, at + bytes.length)
      if (!keeps()) continue
      if (to > result.length) resize(to)
      bytes.copy(result, from, from - at, to - at)
    }
  }
  return result
}
