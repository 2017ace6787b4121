// The result of a refused request, in the built-in form of errors.

/**
 * The result of an operation to refuse a request. The contract must declare the status, with a body of these properties.
 * @param status from 400 to 599
 * @param message for people
 * @example
 * ```ts
 * import type { Result } from './contract.gen.ts'
 * import { refusal } from '@plant-store/engine'
 *
 * export const absent: Result<'getNote'> = refusal(404, 'No such note')
 * ```
 */
export function refusal<Status extends number>(status: Status, message: string) {
  return { status, body: { error: status, message } } as const
}
