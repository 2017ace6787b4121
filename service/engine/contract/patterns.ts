const PATTERNS = new Map<string, RegExp>()

/** Compiles a pattern with the flag `u` (JSON Schema 2020-12, section 6.4); without it if it works only so. @throws {SyntaxError} */
export function toRegExp(pattern: string): RegExp {
  const known = PATTERNS.get(pattern)
  if (known !== undefined) return known
  const compiled = tryUnicode(pattern) ?? new RegExp(pattern)
  PATTERNS.set(pattern, compiled)
  return compiled
}

function tryUnicode(pattern: string): RegExp | undefined {
  try {
    return new RegExp(pattern, 'u')
  } catch {
    return undefined
  }
}
