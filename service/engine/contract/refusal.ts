/**
 * The result of an operation that refuses a request. The contract must declare the status, with a body of these members.
 * @param status from 400 to 599
 * @param message for people
 */
export function refusal<Status extends number>(status: Status, message: string) {
  return { status, body: { error: status, message } } as const
}
