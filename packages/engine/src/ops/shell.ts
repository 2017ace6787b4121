// Prints words of a command that a person pastes into a POSIX shell. Paths, headers and addresses may have any character.

/** Characters that no shell gives a meaning, within a word. */
const PLAIN = /^[\w./:-]+$/

/** A string in single quotes: in them only a single quote has a meaning (POSIX.1-2024, section 2.2.2). */
export function shellString(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`
}

/** A word, in quotes if it needs them. */
export function shellWord(text: string): string {
  return PLAIN.test(text) ? text : shellString(text)
}
