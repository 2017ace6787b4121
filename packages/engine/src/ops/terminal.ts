// The one writer of lines that a person reads at a terminal. Names and texts come from strangers: from contracts, callers, files.
// A terminal would obey control characters in them, and show a text in another order than it has.

/**
 * Control characters, characters that format (such as U+202E) or fill, separators, unusual spaces, and halves of a character.
 * Variation selectors stay: many emoji have one.
 */
const INVISIBLE =
  /[[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Zs}\p{Cs}\p{Default_Ignorable_Code_Point}]--[ \p{Variation_Selector}]]/gv

/** Where a line of the log goes on. */
const INDENT = '    '

/** Shows each invisible character of a text as an escape, such as `\u001b`, line breaks included. */
export function visible(text: string): string {
  return text.replaceAll(INVISIBLE, escape)
}

/** Writes lines to standard output. Nobody has to read them: unlike a stream, the console ignores a reader that is gone. */
export function print(lines: readonly string[]): void {
  console.log(visibleLines(lines))
}

/** Writes lines to standard error. */
export function printError(lines: readonly string[]): void {
  console.error(visibleLines(lines))
}

/** Lines of which none looks like another one; columns may have a tab between them. */
function visibleLines(lines: readonly string[]): string {
  return lines.map((line) => line.split('\t').map(visible).join('\t')).join('\n')
}

/** A text of several lines, each visible and indented, so that none looks like the beginning of an entry of the log. */
export function indented(text: string): string {
  const lines = text.split('\n').map((line) => INDENT + visible(line))
  return lines.join('\n')
}

function escape(character: string): string {
  const digits = (character.codePointAt(0) ?? 0).toString(16)
  return digits.length > 4 ? `\\u{${digits}}` : `\\u${digits.padStart(4, '0')}`
}
