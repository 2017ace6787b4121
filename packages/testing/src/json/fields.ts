// Reads objects and lists of unknown shape.
/** The properties of an object or an array; none for other values. */
export function fields(value: unknown): Record<string, unknown> {
  return Object.assign<Record<string, unknown>, unknown>({}, value)
}

/** Whether a value is an object of JSON: neither null nor an array. */
export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
