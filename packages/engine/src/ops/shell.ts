// Quotes words of commands for people to paste into a POSIX shell. Paths, headers and addresses may
// have any character.

/** Characters without a special meaning in any shell, within a word. */
const PLAIN = /^[\w./:-]+$/

/**
 * Puts a string in single quotes, where only a single quote has a meaning (POSIX.1-2024, section
 * 2.2.2).
 */
export function shellString(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`
}

/** Quotes a word if it needs quotes. */
export function shellWord(text: string): string {
  return PLAIN.test(text) ? text : shellString(text)
}
