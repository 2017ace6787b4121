/** The members of an object or an array; none of anything else. */
export function fields(value: unknown): Record<string, unknown> {
  return Object.assign<Record<string, unknown>, unknown>({}, value)
}
