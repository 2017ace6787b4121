// JSON (RFC 8259) a second time, byte by byte and without JSON.parse, to compare service/engine/http/json.ts with.

/** What is not taken. */
export const REFUSED = Symbol('refused')
/** What may be taken or not: where the stack ends is nobody's promise. */
export const EITHER = Symbol('either')

const MOST_LEVELS = 500
const ESCAPED: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' }

class Fault extends Error {
  readonly verdict: symbol

  constructor(verdict = REFUSED) {
    super()
    this.verdict = verdict
  }
}

/** What `parseJson` must make of bytes: a value, `REFUSED` or `EITHER`. */
export function expectedOf(bytes: Uint8Array): unknown {
  try {
    return new Reader(decode(bytes)).whole()
  } catch (error) {
    if (error instanceof Fault) return error.verdict
    throw error
  }
}

/** UTF-8 as The Unicode Standard 16.0, table 3-7, has it. */
function decode(bytes: Uint8Array): string {
  let text = ''
  for (let at = 0; at < bytes.length;) {
    const first = bytes[at++] ?? 0
    const more = first < 0x80 ? 0 : first < 0xc2 ? -1 : first < 0xe0 ? 1 : first < 0xf0 ? 2 : first < 0xf5 ? 3 : -1
    if (more === -1) throw new Fault()
    let point = more === 0 ? first : first & (0x3f >> more)
    for (let left = more; left > 0; left -= 1) {
      const next = bytes[at++] ?? 0
      if (next >> 6 !== 2) throw new Fault()
      point = (point << 6) | (next & 0x3f)
    }
    const isLong = (more === 2 && point < 0x800) || (more === 3 && (point < 0x10000 || point > 0x10ffff))
    if (isLong || (point >= 0xd800 && point < 0xe000)) throw new Fault()
    text += String.fromCodePoint(point)
  }
  return text
}

class Reader {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  whole(): unknown {
    const value = this.#value(0)
    if (this.#at < this.#text.length) throw new Fault()
    return value
  }

  #value(level: number): unknown {
    if (level > MOST_LEVELS) throw new Fault(EITHER)
    this.#space()
    const value = this.#bare(level)
    this.#space()
    return value
  }

  #bare(level: number): unknown {
    if (this.#takes('{')) return this.#object(level)
    if (this.#takes('[')) return this.#list(']', () => this.#value(level + 1))
    if (this.#takes('"')) return this.#string()
    for (const [word, value] of [
      ['true', true],
      ['false', false],
      ['null', null],
    ] as const) {
      if (this.#takes(word)) return value
    }
    return this.#number()
  }

  #object(level: number): object {
    const members = new Map<string, unknown>()
    this.#list('}', () => {
      this.#space()
      if (!this.#takes('"')) throw new Fault()
      const name = this.#string()
      this.#space()
      if (!this.#takes(':') || members.has(name) || name === '__proto__') throw new Fault()
      members.set(name, this.#value(level + 1))
    })
    return Object.fromEntries(members)
  }

  #list<Item>(end: string, read: () => Item): Item[] {
    const items: Item[] = []
    this.#space()
    if (this.#takes(end)) return items
    do items.push(read())
    while (this.#takes(','))
    if (!this.#takes(end)) throw new Fault()
    return items
  }

  #string(): string {
    let string = ''
    for (;;) {
      const each = this.#text[this.#at++]
      if (each === undefined || each < ' ') throw new Fault()
      if (each === '"') return isPaired(string) ? string : raise()
      string += each === '\\' ? this.#escape() : each
    }
  }

  #escape(): string {
    const each = this.#text[this.#at++] ?? ''
    if (each === '"' || each === '\\' || each === '/') return each
    if (each !== 'u') return ESCAPED[each] ?? raise()
    const digits = this.#text.slice(this.#at, (this.#at += 4))
    return /^[\da-f]{4}$/i.test(digits) ? String.fromCharCode(parseInt(digits, 16)) : raise()
  }

  #number(): number | bigint {
    const start = this.#at
    this.#takes('-')
    if (!this.#takes('0')) this.#digits()
    const whole = this.#text.slice(start, this.#at).replace('-', '')
    const fraction = this.#takes('.') ? this.#digits() : ''
    let exponent = ''
    if (this.#takes('e') || this.#takes('E')) {
      const sign = this.#takes('-') ? '-' : ''
      if (sign === '') this.#takes('+')
      exponent = sign + this.#digits()
    }
    const literal = this.#text.slice(start, this.#at)
    return valueOf(literal, whole + fraction, Number(exponent) - fraction.length)
  }

  #digits(): string {
    const start = this.#at
    while (/^\d/.test(this.#text[this.#at] ?? '')) this.#at += 1
    return this.#text.slice(start, this.#at) || raise()
  }

  #space(): void {
    while (' \t\n\r'.includes(this.#text[this.#at] ?? 'none')) this.#at += 1
  }

  #takes(word: string): boolean {
    const isThere = this.#text.startsWith(word, this.#at)
    if (isThere) this.#at += word.length
    return isThere
  }
}

/** Whether each surrogate has its other half, as a JSON text for others must have it (RFC 7493, section 2.1). */
function isPaired(string: string): boolean {
  // By code points, a surrogate that is left is a lone one.
  return Array.from(string, (each) => each.codePointAt(0) ?? 0).every((point) => point < 0xd800 || point > 0xdfff)
}

/** The value of digits with an exponent, from the digits that are not zero: what is right of the point makes a fraction. */
function valueOf(literal: string, digits: string, exponent: number): number | bigint {
  const rounded = Number(literal)
  if (!Number.isFinite(rounded)) throw new Fault()
  let end = digits.length
  while (digits[end - 1] === '0') end -= 1
  if (end === 0 || Math.abs(rounded) > 2 ** 64) return rounded
  const zeros = exponent + digits.length - end
  if (zeros < 0) return Number.isInteger(rounded) ? NaN : rounded
  const integer = BigInt(digits.slice(0, end) + '0'.repeat(zeros)) * (literal.startsWith('-') ? -1n : 1n)
  return BigInt(Number(integer)) === integer ? Number(integer) : integer
}

function raise(): never {
  throw new Fault()
}
