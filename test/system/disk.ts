// A disk that loses its power, rebuilt from the records of strace.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import fc from 'fast-check'
import type { Test } from 'tap'
import type { Event } from './strace.ts'

/** A file as a disk has it, and the writes since its last sync. */
interface File {
  bytes: Buffer
  pending: Extract<Event, { what: 'write' | 'truncate' }>[]
}

type FileEvent = Extract<Event, { path: string }>

/** A name that got a file, another file or none; the file may have had another name in the same folder. */
interface Renamed {
  readonly path: string
  readonly file: File | 'folder' | undefined
  readonly from?: string | undefined
}

const SECTOR = 512

/** A disk that keeps the synced bytes and names, and a random part of the others. */
class Disk {
  readonly #folder: string
  /** The files by name, as a process sees them, and as they are on the disk. */
  readonly #seen: Map<string, Renamed['file']>
  readonly #named = new Map<string, Renamed['file']>()
  /** The changes of names since the sync of their folder. */
  #renamed: Renamed[] = []

  /** @param folder and @param files are there */
  constructor(folder: string, files: Readonly<Record<string, Buffer>>) {
    this.#folder = folder
    this.#named.set(folder, 'folder')
    for (const [path, bytes] of Object.entries(files)) this.#named.set(path, { bytes, pending: [] })
    this.#seen = new Map(this.#named)
  }

  apply(event: Event): void {
    if (!('path' in event)) return
    const renamed = this.#renamedBy(event)
    if (renamed !== undefined) {
      this.#rename(renamed)
      return
    }
    const file = this.#find(event.path)
    if (file !== 'folder') change(file, event)
    else if (event.what === 'sync') this.#syncFolder(event.path)
  }

  /**
   * Writes the files after a power cut into a new folder. SQLite makes the index of its log anew.
   * @param keeps whether a part of the unsynced writes is kept
   */
  cut(keeps: () => boolean, folder: string): void {
    rmSync(folder, { recursive: true, force: true })
    mkdirSync(folder)
    const named = new Map(this.#named)
    for (const renaming of this.#renamed) if (keeps()) rename(named, renaming)
    // A file is lost with its folder.
    const isThere = (path: string): boolean =>
      named.has(path) && (path === this.#folder || isThere(dirname(path)))
    for (const [path, file] of named) {
      if (typeof file !== 'object' || path.endsWith('-shm') || !isThere(path)) continue
      writeFileSync(`${folder}/${basename(path)}`, after(file, keeps))
    }
  }

  /** The effect of an event on names; undefined without one. */
  #renamedBy(event: FileEvent): Renamed | undefined {
    const { what, path } = event
    if (what === 'makeFolder') return { path, file: 'folder' }
    if (what === 'remove') return { path, file: undefined }
    if (what === 'rename') return { path: event.to, file: this.#find(path), from: path }
    const isNew = what === 'make' && !this.#seen.has(path)
    return isNew ? { path, file: { bytes: Buffer.of(), pending: [] } } : undefined
  }

  #rename(renamed: Renamed): void {
    rename(this.#seen, renamed)
    this.#renamed.push(renamed)
  }

  #find(path: string): File | 'folder' {
    const file = this.#seen.get(path)
    if (file === undefined) throw new Error(`${basename(path)} is not there`)
    return file
  }

  #syncFolder(path: string): void {
    const isInside = (renamed: Renamed) => dirname(renamed.path) === path
    for (const renamed of this.#renamed.filter(isInside)) rename(this.#named, renamed)
    this.#renamed = this.#renamed.filter((renamed) => !isInside(renamed))
  }
}

/** Changes the content of a file, or its unsynced content. */
function change(file: File, event: FileEvent): void {
  const { what } = event
  if (what === 'write' || what === 'truncate') file.pending.push(event)
  if (what === 'sync') file.bytes = after(file, () => true)
  // After a failed sync Linux takes the unwritten pages for written.
  if (what === 'sync' || what === 'failedSync') file.pending = []
}

function rename(named: Map<string, Renamed['file']>, { path, file, from }: Renamed): void {
  if (from !== undefined) named.delete(from)
  if (file === undefined) named.delete(path)
  else named.set(path, file)
}

/** The bytes of a file after its changes, of which only some are kept; a write is kept or not by sectors. */
function after({ bytes, pending }: File, keeps: () => boolean): Buffer {
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

/** A change of a folder. */
interface Recording {
  readonly folder: string
  /** The files before the events. */
  readonly files?: Record<string, Buffer>
  readonly events: readonly Event[]
}

interface Visitor {
  /** The shares of unsynced writes to keep at a moment. */
  readonly sharesOf: (draw: () => number) => readonly number[]
  /** Gets a database file in memory as it would be found, and the place of the cut. */
  readonly look: (file: string, where: string) => Promise<void>
  /** Gets each event up to the next cut. */
  readonly see?: (event: Event) => void
}

/**
 * Cuts the power before each sync and each rename, and at the end: the worst of all moments since the one before.
 * SEED=<number> draws the same chances again.
 * @returns how many such moments there were
 */
export async function cutEverywhere(
  t: Test,
  { folder, files = {}, events }: Recording,
  { sharesOf, look, see }: Visitor,
): Promise<number> {
  const seed = Number(process.env['SEED'] ?? Date.now() % 2 ** 31)
  t.comment(`SEED=${seed}`)
  const drawn = fc.sample(fc.noBias(fc.nat(999)), { seed, numRuns: 100_000 })
  let next = 0
  const draw = () => (drawn[next++ % drawn.length] ?? 0) / 1000
  const memory = mkdtempSync('/dev/shm/plants-')
  t.teardown(() => rmSync(memory, { recursive: true, force: true }))
  const disk = new Disk(folder, files)
  let moments = 0
  const cut = async () => {
    for (const share of sharesOf(draw)) {
      disk.cut(() => draw() < share, `${memory}/data`)
      await look(`${memory}/data/plants.db`, `moment ${moments}, ${share} kept`)
    }
  }
  for (const event of events) {
    if (['sync', 'failedSync', 'rename'].includes(event.what)) {
      await cut()
      moments += 1
    }
    see?.(event)
    disk.apply(event)
  }
  await cut()
  return moments
}
