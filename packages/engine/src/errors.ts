// Errors thrown in one room of the engine and handled in another.

/** The message of an error, whatever was thrown. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/**
 * The service can't start. The message tells a person what to fix, with the variable, the file or
 * the port.
 */
export class StartupError extends Error {
  override readonly name = 'StartupError'
}

/** In characters, as JavaScript counts them. */
export const MAX_MESSAGE_LENGTH = 1000
/**
 * The status of an operation without a method. Its message shows the author of the contract a
 * method to paste.
 */
const NOT_IMPLEMENTED = 501

/** Cuts a long message: it may quote the request. No character is halved. @param most in characters of JavaScript */
export function shorten(message: string, most = MAX_MESSAGE_LENGTH): string {
  if (message.length <= most) return message
  const start = message.slice(0, Math.max(most - 1, 0)).replace(/[\ud800-\udbff]$/, '')
  return `${start}…`.slice(0, most)
}

/**
 * The refusal of a request, with a status from 400 to 599. Fastify answers with it wherever it is
 * thrown.
 */
export class HttpError extends Error {
  override readonly name = 'HttpError'
  readonly statusCode: number
  readonly headers: Readonly<Record<string, string>>

  /**
   * @param message for people. It is cut at {@link MAX_MESSAGE_LENGTH} characters, unless the
   * status is 501
   * @param headers required by the status, such as `Allow`
   */
  constructor(statusCode: number, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(statusCode === NOT_IMPLEMENTED ? message : shorten(message))
    this.statusCode = statusCode
    this.headers = headers
  }
}

/**
 * The store can't answer at the moment: it is down, full or too busy. The same call may succeed
 * later.
 */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable'
}

/**
 * The store refuses a call because there are too many, or because a list is read too slowly. The
 * store itself is sound.
 */
export class StoreBusy extends StoreUnavailable {}

/**
 * A write would give an owner two items with the same values in a unique index. Nothing of the
 * write is done, and nothing of its whole `change`. If no method catches it, the answer is 409
 * where the operation describes a 409 that the service can write, else 500.
 * @example
 * ```ts
 * import { type Collection, NotUnique } from '@plant-store/engine'
 *
 * export async function isAdded(notes: Collection<string>, owner: string, id: bigint, note: string) {
 *   try {
 *     return (await notes.create(owner, id, note)) === note
 *   } catch (error) {
 *     if (error instanceof NotUnique && error.index === 'title') return false
 *     throw error
 *   }
 * }
 * ```
 */
export class NotUnique extends Error {
  override readonly name = 'NotUnique'
  readonly collection: string
  readonly index: string

  /** @param index its name in the collection */
  constructor(collection: string, index: string) {
    super(`another item of ${collection} has the same ${index}`)
    this.collection = collection
    this.index = index
  }
}
