// The names of a new service, from the title of its contract.

export interface Names {
  /** The title, without the characters that a quoted string can't have. */
  readonly title: string
  /** The name in product.ts: `a-z` and `0-9`, for metrics, tables, hosts and pods. */
  readonly name: string
  /** The name of the package and the image, and the beginning of the file with the class: the same words, with hyphens. */
  readonly slug: string
}

/** Words without information about a service, and versions. */
const EMPTY_WORD = /^(api|openapi|rest|service|the|v?\d+)$/
/** The longest name in product.ts. */
const MAX_LENGTH = 32

/**
 * Names a service.
 * @param fallback for a title without a usable letter, such as a Chinese one
 * @example `Äpfel & Birnen: API v2!` gives the name `apfelbirnen`, and the slug `apfel-birnen`
 */
export function namesFrom(title: string, fallback: string): Names {
  const sources = [title, fallback, 'service'].map(wordsOf)
  const words = sources.find(({ length }) => length > 0) ?? []
  const speaking = words.filter((word) => !EMPTY_WORD.test(word))
  const named = startWithLetter(speaking.length > 0 ? speaking : words)
  const fitting = shorten(named)
  return {
    title:
      title.replaceAll(/["'`$\\<>\p{Cc}\p{Bidi_Control}\s]+/gu, ' ').trim() || fitting.join(' '),
    name: fitting.join(''),
    slug: fitting.join('-'),
  }
}

/** The words of a title in small letters, without accents. */
function wordsOf(text: string): string[] {
  const plain = text.normalize('NFKD').replaceAll(/[\p{M}'’]/gu, '')
  return plain.toLowerCase().match(/[a-z0-9]+/g) ?? []
}

/** A name begins with a letter. */
function startWithLetter(words: readonly string[]): readonly string[] {
  return /^\d/.test(words[0] ?? '') ? ['api', ...words] : words
}

/** As many words as fit. The first one is cut if it does not fit by itself. */
function shorten([first = '', ...others]: readonly string[]): readonly string[] {
  const fitting = [first.slice(0, MAX_LENGTH)]
  for (const word of others) {
    if (fitting.join('').length + word.length > MAX_LENGTH) break
    fitting.push(word)
  }
  return fitting
}
