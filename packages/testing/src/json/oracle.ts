// JSON (RFC 8259) a second time, by tokens and without JSON.parse, to compare packages/engine/src/http/json.ts with.
import { isUtf8 } from 'node:buffer'

/** For refused bytes. */
export const REFUSED = Symbol('refused')
/** For bytes with no promise: the depth of the stack is nobody's promise. */
export const EITHER = Symbol('either')

const MOST_LEVELS = 500
/** White space, and a token or the end: a mark, a string, a number, or a word. */
const TOKEN =
  /[ \t\n\r]*([{}[\],:]|"(?:[^"\\\0-\x1F]|\\(?:["\\/bfnrt]|u[\dA-Fa-f]{4}))*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null|$)/y
const WORDS: Readonly<Record<string, unknown>> = { true: true, false: false, null: null }
const ESCAPED: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' }

class Fault extends Error {}
class TooDeep extends Error {}

/** The required result of `parseJson` for bytes: a value, `REFUSED` or `EITHER`. */
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

/** The value from a token on. */
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
  // As JSON between systems must have it (RFC 7493, section 2.1).
  if (!string.isWellFormed()) throw new Fault()
  return string
}

/** The value of a number, from its significant digits: digits right of the point make a fraction. */
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

/** The significant digits of a number, and the number of zeros behind them: negative for a fraction. */
function decimalOf(token: string): { digits: string; zeros: number } {
  const [, whole = '', fraction = '', exponent = '0'] =
    /^-?(\d+)(?:\.(\d+))?(?:e(.*))?$/i.exec(token) ?? []
  const digits = whole + fraction
  let end = digits.length
  while (digits[end - 1] === '0') end -= 1
  const zeros = Number(exponent) - fraction.length + digits.length - end
  return { digits: digits.slice(0, end), zeros }
}
