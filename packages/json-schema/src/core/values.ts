// Values of JSON. In a value that will become JSON, a member may be undefined.

/** Whether a value is a JSON object. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Whether a value is an object or a list. */
export function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

/** Whether an object has a member. A member that is undefined is none: JSON leaves it out. */
export function hasMember(container: object, name: string): boolean {
  return Object.hasOwn(container, name) && Reflect.get(container, name) !== undefined
}

/** The names of the members that an object has. */
export function memberNames(container: object): string[] {
  return Object.keys(container).filter((name) => hasMember(container, name))
}
