// The errors that are thrown in one folder and handled in another.

/** The message of an error, whatever was thrown. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** The service can't start. The message tells a person what to fix: it names the variable, the file or the port. */
export class StartupError extends Error {
  override readonly name = 'StartupError'
}

/** The refusal of a request, with a status from 400 to 599. Fastify answers with it wherever it is thrown. */
export class HttpError extends Error {
  override readonly name = 'HttpError'
  readonly statusCode: number
  readonly headers: Readonly<Record<string, string>>

  /** @param headers that the status requires, such as `Allow` */
  constructor(statusCode: number, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message)
    this.statusCode = statusCode
    this.headers = headers
  }
}

/** The store can't answer at the moment: it is away, full or too busy. The same call may succeed later. */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable'
}

/** The store refuses a call because there are too many, or because a list is read too slowly. The store itself is sound. */
export class StoreBusy extends StoreUnavailable {}
