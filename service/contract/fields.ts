/** Whether a value is a JSON object. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The members of an object or an array; none of anything else. */
export function fields(value: unknown): Record<string, unknown> {
  return Object.assign<Record<string, unknown>, unknown>({}, value)
}
