// A second reader of JSON (RFC 8259), by tokens and without JSON.parse, to compare packages/engine/src/http/json.ts with.
import { isUtf8 } from 'node:buffer'

/** Stands for refused bytes. */
export const REFUSED = Symbol('refused')
/** Stands for bytes which may be read or refused: nobody promises the end of the stack. */
export const EITHER = Symbol('either')

const MOST_LEVELS = 500
/** White space, and a token or the end: a mark, a string, a number, or a word. */
const TOKEN =
  /[ \t\n\r]*([{}[\],:]|"(?:[^"\\\0-\x1F]|\\(?:["\\/bfnrt]|u[\dA-Fa-f]{4}))*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null|$)/y
const WORDS: Readonly<Record<string, unknown>> = { true: true, false: false, null: null }
const ESCAPED: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' }

class Fault extends Error {}
class TooDeep extends Error {}

/** The right result of `parseJson` for bytes: a value, `REFUSED` or `EITHER`. */
export function expectedOf(bytes: Uint8Array): unknown {
  try {
    if (!isUtf8(bytes)) throw new Fault()
    const tokens = tokensOf(Buffer.from(bytes).toString())
    const value = valueAt(tokens, next(tokens), 0)
    if (next(tokens) !== '') throw new Fault()
    return value
  } catch (error) {
    if (error instanceof Fault) return REFUSED
    if (error instanceof TooDeep) return EITHER
    throw error
  }
}

type Tokens = Iterator<string, undefined>

function* tokensOf(text: string): Generator<string, undefined> {
  for (let at = 0; ; at = TOKEN.lastIndex) {
    TOKEN.lastIndex = at
    const [, token] = TOKEN.exec(text) ?? []
    if (token === undefined) throw new Fault()
    yield token
  }
}

const next = (tokens: Tokens): string => tokens.next().value ?? ''

/** The value beginning with a token. */
function valueAt(tokens: Tokens, token: string, level: number): unknown {
  if (level > MOST_LEVELS) throw new TooDeep()
  if (token === '[') return itemsOf(tokens, ']', (first) => valueAt(tokens, first, level + 1))
  if (token === '{') return objectOf(tokens, level)
  if (token.startsWith('"')) return stringOf(token)
  if (Object.hasOwn(WORDS, token)) return WORDS[token]
  if (/^[-\d]/.test(token)) return numberOf(token)
  throw new Fault()
}

function objectOf(tokens: Tokens, level: number): object {
  const members = new Map<string, unknown>()
  itemsOf(tokens, '}', (first) => {
    if (!first.startsWith('"')) throw new Fault()
    const name = stringOf(first)
    if (next(tokens) !== ':' || members.has(name) || name === '__proto__') throw new Fault()
    members.set(name, valueAt(tokens, next(tokens), level + 1))
  })
  return Object.fromEntries(members)
}

/** @param read reads an item, from its first token on */
function itemsOf<Item>(tokens: Tokens, end: string, read: (first: string) => Item): Item[] {
  const items: Item[] = []
  let token = next(tokens)
  if (token === end) return items
  for (; ; token = next(tokens)) {
    items.push(read(token))
    const after = next(tokens)
    if (after === end) return items
    if (after !== ',') throw new Fault()
  }
}

function stringOf(token: string): string {
  const string = token
    .slice(1, -1)
    .replaceAll(/\\(?:u(.{4})|(.))/g, (_, digits: string | undefined, letter: string) => {
      return digits === undefined
        ? (ESCAPED[letter] ?? letter)
        : String.fromCharCode(parseInt(digits, 16))
    })
  // A surrogate must have its other half (RFC 7493, section 2.1).
  if (!string.isWellFormed()) throw new Fault()
  return string
}

/** The value of a number: digits right of the point, zeros left out, make a fraction. */
function numberOf(token: string): number | bigint {
  const rounded = Number(token)
  if (!Number.isFinite(rounded)) throw new Fault()
  const { digits, zeros } = decimalOf(token)
  if (digits === '' || Math.abs(rounded) > 2 ** 64) return rounded
  if (zeros < 0) return Number.isInteger(rounded) ? NaN : rounded
  const absolute = BigInt(digits + '0'.repeat(zeros))
  const integer = token.startsWith('-') ? -absolute : absolute
  const isExact = BigInt(Number(integer)) === integer
  return isExact ? Number(integer) : integer
}

/** The digits of a number without its last zeros, and the number of these zeros: negative for a fraction. */
function decimalOf(token: string): { digits: string; zeros: number } {
  const [, whole = '', fraction = '', exponent = '0'] =
    /^-?(\d+)(?:\.(\d+))?(?:e(.*))?$/i.exec(token) ?? []
  const digits = whole + fraction
  let end = digits.length
  while (digits[end - 1] === '0') end -= 1
  const zeros = Number(exponent) - fraction.length + digits.length - end
  return { digits: digits.slice(0, end), zeros }
}
