// Makes files usable only by their owner, and refuses files and links put in their place by another
// user. Commands are often run by root, in a folder writable for the user of the service.
import { closeSync, constants, existsSync, fchownSync, fstatSync } from 'node:fs'
import { fsyncSync, lstatSync, mkdirSync, openSync, readlinkSync, readSync, rmSync } from 'node:fs'
import { type Stats, writeSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

export type Owner = Pick<Stats, 'uid' | 'gid'>

/** The mode of a new file: only its owner can read and write it. */
export const OWNER_ONLY = 0o600
const FOLDER_OF_OWNER = 0o700
/**
 * The names' ends of SQLite's files beside a database: the log, the index of the log, and the
 * journal.
 */
export const LOGS = ['-wal', '-shm', '-journal'] as const

/** Creates a folder, to survive a power cut. */
export function makeFolder(path: string): void {
  withFullMode(() => mkdirSync(path, FOLDER_OF_OWNER))
  sync(dirname(path))
}

/**
 * Creates an empty file. Nothing may have its name, and a link there is not followed.
 * @returns its descriptor, to read and write
 */
export function makeFile(path: string): number {
  const { O_CREAT, O_EXCL, O_NOFOLLOW, O_RDWR } = constants
  const flags = O_CREAT | O_EXCL | O_NOFOLLOW | O_RDWR
  return withFullMode(() => openSync(path, flags, OWNER_ONLY))
}

/**
 * Creates an empty file if there is none, for this owner. @throws {Error} if its name is a link to
 * nothing
 */
export function makeFileIfAbsent(path: string, owner?: Owner): void {
  let descriptor: number
  try {
    descriptor = makeFile(path)
  } catch (error) {
    if (existsSync(path)) return
    throw error
  }
  try {
    if (owner) giveTo(descriptor, owner)
  } catch (error) {
    rmSync(path) // A file of the wrong owner would be in the way of the right one.
    throw error
  } finally {
    closeSync(descriptor)
  }
}

/** Gives a new file to the owner of another file. @throws {Error} if not permitted */
export function giveTo(descriptor: number, { uid, gid }: Owner): void {
  const stats = fstatSync(descriptor)
  if (stats.uid === uid && stats.gid === gid) return
  try {
    fchownSync(descriptor, uid, gid)
  } catch (cause) {
    const message = `the store belongs to user ${uid} and group ${gid}: run this as that user, or as root`
    throw new Error(message, { cause })
  }
}

/** Copies a file to another one, or to itself. */
export function copyBytes(from: number, to: number): void {
  const part = Buffer.alloc(1 << 20)
  let at = 0
  for (;;) {
    const size = readSync(from, part, 0, part.length, at)
    if (size === 0) return
    at += writeSync(to, part, 0, size, at)
  }
}

/**
 * Waits until a file, or a folder's names, are on disk. Not for an open database: `closeSync` would
 * free its locks.
 */
export function sync(path: string): void {
  const descriptor = openSync(path, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

/**
 * Refuses links, folders and pipes at the names of a database and of SQLite's files beside it.
 * @param paths of databases; they may be absent
 * @throws {Error} naming the path
 */
export function assertNoLinks(...paths: string[]): void {
  for (const path of paths.flatMap((path) => [path, ...LOGS.map((end) => path + end)])) {
    const stats = lstatSync(path, { throwIfNoEntry: false })
    const reason = stats && refusalOf(stats)
    if (reason !== undefined) throw new Error(`${path} ${reason}`)
  }
}

/**
 * Refuses a folder if root would reach it by another user's symbolic link, which could be set to
 * lead elsewhere.
 * @param folder absolute
 * @throws {Error} naming the link
 */
export function assertNoLinksOfOthers(folder: string): void {
  if (process.geteuid?.() !== 0) return
  for (let path = folder; path !== dirname(path); path = dirname(path)) {
    const stats = lstatSync(path, { throwIfNoEntry: false })
    if (!stats?.isSymbolicLink()) continue
    if (stats.uid !== 0) throw new Error(`${path} is a symbolic link of another user`)
    assertNoLinksOfOthers(resolve(dirname(path), readlinkSync(path)))
  }
}

function refusalOf(stats: Stats): string | undefined {
  if (stats.isSymbolicLink()) return 'is a symbolic link'
  if (!stats.isFile()) return 'is not a file'
  return stats.nlink > 1 ? 'has another name, by a hard link' : undefined
}

/**
 * Runs `make` under a umask that takes no bits from the owner, as the umask of the process could.
 */
function withFullMode<Value>(make: () => Value): Value {
  const mask = process.umask(0o077)
  try {
    return make()
  } finally {
    process.umask(mask)
  }
}
