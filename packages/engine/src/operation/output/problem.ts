// The result of a refused request, in the form of RFC 9457.

/** The fields of RFC 9457 without a `detail`. */
interface Problem<Status, Title> {
  /** The problem is the status itself (section 4.2.1). */
  readonly type: 'about:blank'
  readonly title: Title
  readonly status: Status
}

/** The result of an operation, with a body of these fields. */
interface ProblemResult<Status, Body> {
  readonly status: Status
  readonly type: 'application/problem+json'
  readonly body: Body
}

/**
 * The result of an operation to refuse a request by `application/problem+json` (RFC 9457). The contract must declare the
 * status, with this media type and a schema of these fields. Its `status` is a number, no int64.
 * @param status from 400 to 599, also in the body
 * @param title says what kind of problem it is, for people
 * @param detail says more of this request, for people
 * @example
 * ```ts
 * import { problem } from '@plant-store/engine'
 *
 * export const absent = problem(404, 'No such note', 'It was deleted on Monday')
 * ```
 */
export function problem<Status extends number, Title extends string>(
  status: Status,
  title: Title,
): ProblemResult<Status, Problem<Status, Title>>
export function problem<Status extends number, Title extends string>(
  status: Status,
  title: Title,
  detail: string,
): ProblemResult<Status, Problem<Status, Title> & { readonly detail: string }>
export function problem<Status extends number, Title extends string>(
  status: Status,
  title: Title,
  detail: string | undefined,
): ProblemResult<Status, Problem<Status, Title> & { readonly detail?: string }>
export function problem(status: number, title: string, detail?: string) {
  const body = { type: 'about:blank', title, status, ...(detail !== undefined && { detail }) }
  return { status, type: 'application/problem+json', body }
}
