// The statuses that an operation does not describe: where a method answers one, TypeScript says so by its number.

/** The registered statuses of final answers (https://www.iana.org/assignments/http-status-codes). */
type Registered = Successes | Redirects | Refusals | Failures
type Successes = 200 | 201 | 202 | 203 | 204 | 205 | 206 | 207 | 208 | 226
type Redirects = 300 | 301 | 302 | 303 | 304 | 305 | 307 | 308
type Refusals =
  | 400
  | 401
  | 402
  | 403
  | 404
  | 405
  | 406
  | 407
  | 408
  | 409
  | 410
  | 411
  | 412
  | 413
  | 414
  | 415
  | 416
  | 417
  | 421
  | 422
  | 423
  | 424
  | 425
  | 426
  | 428
  | 429
  | 431
  | 451
type Failures = 500 | 501 | 502 | 503 | 504 | 505 | 506 | 507 | 508 | 511

/**
 * Results that nobody can make, one for each registered status that is not declared. TypeScript compares a result with the
 * one of its status, and shows the name of its property.
 * @template Declared the declared statuses
 * @template Id of the operation; without one there are no such results
 */
export type Undeclared<Declared, Id extends string> = {
  readonly [Status in Exclude<Registered, Declared>]: Id extends unknown
    ? UndeclaredResult<
        Status,
        `the contract declares no ${Status}: add it to the responses of ${Id}`
      >
    : never
}[Exclude<Registered, Declared>]

type UndeclaredResult<Status, Message extends string> = { readonly [_ in Message]: never } & {
  readonly status: Status
  readonly type?: unknown
  readonly headers?: unknown
  readonly body?: unknown
}
