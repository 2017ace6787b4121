// Errors of values, and the paths that they name.

/** The name of a member, or the index of an item. */
export type Key = string | number

/** The keys that lead to a value: its instance location. Values in the same container share the keys of the container. */
export interface Path {
  readonly key: Key
  /** The path of the container; undefined for the whole value, whose key is its name. */
  readonly above: Path | undefined
  readonly length: number
}

/** The keys of a path, in order. */
export function keysOf(path: Path | undefined): Key[] {
  const keys: Key[] = []
  for (let at = path; at !== undefined; at = at.above) keys.push(at.key)
  return keys.reverse()
}

/** An error of a value. */
export interface ValidationError {
  readonly path: Path
  readonly text: string
  /** Whether it is an error of `enum` or `const`, which often only tell alternatives apart. */
  readonly isTag: boolean
}

/** The error to report of alternatives that all failed: the deepest one. @returns undefined if two are as deep */
export function bestMatch(errors: readonly ValidationError[]): ValidationError | undefined {
  let best: ValidationError | undefined
  let isTie = false
  for (const error of errors) {
    const difference = best === undefined ? 1 : rankOf(error) - rankOf(best)
    if (difference === 0) isTie = true
    if (difference <= 0) continue
    best = error
    isTie = false
  }
  return isTie ? undefined : best
}

/** An error of `enum` and `const` says the least: they only tell alternatives apart. */
function rankOf({ isTag, path }: ValidationError): number {
  return isTag ? 0 : path.length
}
