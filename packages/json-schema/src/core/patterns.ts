/** Compiles a pattern with the flag `u` (2020-12 core, section 6.4); without it if only that works. @throws {SyntaxError} */
export function toRegExp(pattern: string): RegExp {
  try {
    return new RegExp(pattern, 'u')
  } catch {
    return new RegExp(pattern)
  }
}
