// A disk that loses its power: it is rebuilt from what strace has recorded.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import fc from 'fast-check'
import type { Event } from './strace.ts'

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

/** Draws numbers from 0 to 1, the same ones for the same seed. */
export function chances(seed: number): () => number {
  const drawn = fc.sample(fc.noBias(fc.nat(999)), { seed, numRuns: 100_000 })
  let next = 0
  return () => (drawn[next++ % drawn.length] ?? 0) / 1000
}

/** A disk that keeps what was synced, and of the rest what chance would have it; of file names too. */
export class Disk {
  readonly #folders: Set<string>
  /** The files by name, as a process sees them, and as they are on the disk. */
  readonly #seen = new Map<string, File>()
  readonly #named = new Map<string, File | 'folder'>()
  /** What was done to names since the sync of their folder. */
  #renamed: Renamed[] = []

  /** @param folder and @param files are there */
  constructor(folder: string, files: Readonly<Record<string, Buffer>> = {}) {
    this.#folders = new Set([folder])
    for (const [path, bytes] of Object.entries(files)) {
      const file = { bytes, pending: [] }
      this.#seen.set(path, file)
      this.#named.set(path, file)
    }
  }

  apply(event: Event): void {
    switch (event.what) {
      case 'make': {
        if (this.#seen.has(event.path)) return
        const file: File = { bytes: Buffer.of(), pending: [] }
        this.#seen.set(event.path, file)
        this.#renamed.push({ path: event.path, file })
        return
      }
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
        else Object.assign(this.#file(event.path), { bytes: after(this.#file(event.path), () => true), pending: [] })
    }
  }

  /** Writes the files that a power cut leaves into a new folder. SQLite makes the index of its log anew. */
  cut(keeps: Keeps, folder: string): void {
    rmSync(folder, { recursive: true, force: true })
    mkdirSync(folder)
    const named = new Map(this.#named)
    for (const each of this.#renamed) if (keeps()) rename(named, each)
    for (const [path, file] of named) {
      // A file is lost with its folder.
      if (file === 'folder' || path.endsWith('-shm') || !this.#isThere(named, dirname(path))) continue
      writeFileSync(`${folder}/${basename(path)}`, after(file, keeps))
    }
  }

  #isThere(named: ReadonlyMap<string, unknown>, folder: string): boolean {
    const [first = ''] = this.#folders
    return folder === first || (named.has(folder) && this.#isThere(named, dirname(folder)))
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
  for (const change of pending) {
    if (change.what === 'truncate') {
      if (keeps()) result = Buffer.concat([result], change.size)
      continue
    }
    const { at, bytes } = change
    for (let from = at, to; from < at + bytes.length; from = to) {
      to = Math.min((Math.floor(from / SECTOR) + 1) * SECTOR, at + bytes.length)
      if (!keeps()) continue
      if (to > result.length) result = Buffer.concat([result], to)
      bytes.copy(result, from, from - at, to - at)
    }
  }
  return result
}
