// Writes lines for people at a terminal. Names and texts come from strangers: contracts, callers,
// files. A terminal would obey control characters in them, and show characters in another order.

/**
 * Control, format (such as U+202E), fill and separator characters, unusual spaces, and lone
 * surrogates. Variation selectors stay: many emoji have one.
 */
const INVISIBLE =
  /[[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Zs}\p{Cs}\p{Default_Ignorable_Code_Point}]--[ \p{Variation_Selector}]]/gv

/** Before each further line of an entry of the log. */
const INDENT = '    '

/** Shows each invisible character as an escape, such as `\u001b`, line breaks included. */
export function visible(text: string): string {
  return text.replaceAll(INVISIBLE, escape)
}

/**
 * Writes lines to standard output. Unlike a stream, the console does not fail if the reader is
 * gone.
 */
export function print(lines: readonly string[]): void {
  console.log(visibleLines(lines))
}

/** Writes lines to standard error. */
export function printError(lines: readonly string[]): void {
  console.error(visibleLines(lines))
}

/** Joins lines so that none can pass as two. Tabs between columns stay. */
function visibleLines(lines: readonly string[]): string {
  return lines.map((line) => line.split('\t').map(visible).join('\t')).join('\n')
}

/** Indents each line, so that none can pass as the beginning of an entry of the log. */
export function indented(text: string): string {
  const lines = text.split('\n').map((line) => INDENT + visible(line))
  return lines.join('\n')
}

function escape(character: string): string {
  const digits = (character.codePointAt(0) ?? 0).toString(16)
  return digits.length > 4 ? `\\u{${digits}}` : `\\u${digits.padStart(4, '0')}`
}
