// Compiles the patterns of schemas.
/** Compiles a pattern with the flag `u` (2020-12 core, section 6.4), or else without it. @throws {SyntaxError} */
export function toRegExp(pattern: string): RegExp {
  try {
    return new RegExp(pattern, 'u')
  } catch {
    return new RegExp(pattern)
  }
}
