// Values of JSON. Before they become JSON, a property may be undefined.

/** Whether a value is a JSON object. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Whether a value is an object or a list. */
export function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

/** Whether an object has a property. An undefined one is absent, as in JSON. */
export function hasProperty(container: object, name: string): boolean {
  return Object.hasOwn(container, name) && Reflect.get(container, name) !== undefined
}

/** The names of an object's properties. */
export function namesOf(container: object): string[] {
  return Object.keys(container).filter((name) => hasProperty(container, name))
}
