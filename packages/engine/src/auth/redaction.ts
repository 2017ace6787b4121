// Hides credentials in the errors of guards. The message of a library may quote them as they were sent, or as it sent them on:
// percent-encoded, or in base64.

const HIDDEN = '***'
/** How many times a text is percent-decoded: a URL may stand in a parameter of another one. */
const MAX_DECODED = 2
/** Fewer characters of base64 would be found in words by chance. */
const MIN_BASE64 = 4

/** A text as bytes, one for each character, and where each of them begins and ends in the text that is shown. */
interface Reading {
  readonly bytes: string
  readonly starts: readonly number[]
  readonly ends: readonly number[]
}
type Range = readonly [start: number, end: number]

/** Makes the function that hides credentials in a text. @param credentials as the request has them, without their scheme */
export function credentialsHider(credentials: string): (text: string) => string {
  const secrets = secretsIn(credentials).map(toBytes)
  const inBase64 = secrets.flatMap(partsInBase64)
  return (text) => {
    const readings = readingsOf(text)
    const ranges = readings.flatMap((reading) => [
      ...secrets.flatMap((secret) => plainRanges(reading, secret)),
      ...inBase64.flatMap((part) => base64Ranges(reading, part)),
    ])
    return withoutRanges(toBytes(text), ranges)
  }
}

/** The texts to hide: the credentials, and what they are made of. */
function secretsIn(credentials: string): string[] {
  const texts = [credentials, inUtf8(credentials)]
  const decoded = texts.flatMap((text) => textsInBase64(text))
  const passwords = decoded.map((text) => text.slice(text.indexOf(':') + 1)) // RFC 7617, section 2
  const secrets = [...texts, ...decoded, ...passwords]
  const written = secrets.flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1)])
  return [...new Set(written)].filter((secret) => secret !== '')
}

/** The text of a header, which Node reads as Latin-1, as UTF-8. */
function inUtf8(text: string): string {
  return Buffer.from(text, 'latin1').toString()
}

/** The texts that a text in base64 stands for, as UTF-8 and as Latin-1; none if it is not base64, or of other bytes than texts. */
function textsInBase64(text: string): string[] {
  const bytes = Buffer.from(text, 'base64')
  const isBase64 = toBase64(bytes) === toPlainBase64(text)
  const texts = isBase64 ? [bytes.toString(), bytes.toString('latin1')] : []
  return texts.filter((decoded) => !/[\p{Cc}\uFFFD]/u.test(decoded))
}

const toBase64 = (bytes: Buffer) => bytes.toString('base64').replace(/=+$/, '')
const toPlainBase64 = (text: string) =>
  text.replaceAll('-', '+').replaceAll('_', '/').replace(/=+$/, '')

/** A text in UTF-8, a character for each byte. */
const toBytes = (text: string) => Buffer.from(text).toString('latin1')

/**
 * The parts that base64 has wherever the bytes stand in what is encoded: three bytes are four characters, so there are three
 * spellings, of which the characters at both ends have bits of what stands beside the bytes.
 */
function partsInBase64(bytes: string): string[] {
  const parts = [0, 1, 2].map((before) => {
    const padded = Buffer.concat([Buffer.alloc(before), Buffer.from(bytes, 'latin1')])
    const first = Math.ceil((before * 8) / 6)
    const end = Math.floor((padded.length * 8) / 6)
    return padded.toString('base64').slice(first, end)
  })
  return parts.filter(({ length }) => length >= MIN_BASE64)
}

/** A text as it is, and percent-decoded. */
function readingsOf(text: string): Reading[] {
  const bytes = toBytes(text)
  const starts = Array.from(bytes, (_, index) => index)
  const readings: Reading[] = [{ bytes, starts, ends: starts.map((start) => start + 1) }]
  for (let decoded = 0; decoded < MAX_DECODED; decoded += 1) {
    const last = readings.at(-1)
    if (last?.bytes.includes('%')) readings.push(percentDecoded(last))
  }
  return readings
}

function percentDecoded({ bytes, starts, ends }: Reading): Reading {
  const matches = [...bytes.matchAll(/%[\da-f]{2}|[^]/gi)]
  return {
    bytes: matches
      .map(([text]) =>
        text.length === 1 ? text : String.fromCharCode(Number.parseInt(text.slice(1), 16)),
      )
      .join(''),
    starts: matches.map(({ index }) => starts[index] ?? index),
    ends: matches.map(({ index, 0: { length } }) => ends[index + length - 1] ?? index + length),
  }
}

/** Where a secret stands. A form has `+` for a space. */
function plainRanges(reading: Reading, secret: string): Range[] {
  const withPlus = (text: string) => text.replaceAll(' ', '+')
  const bytes = withPlus(reading.bytes)
  const places = placesOf(bytes, withPlus(secret))
  return places.map((place) => rangeOf(reading, place, place + secret.length))
}

/** Where a part in base64 stands, of either alphabet, with all of the base64 around it. */
function base64Ranges(reading: Reading, part: string): Range[] {
  const bytes = reading.bytes.replaceAll('-', '+').replaceAll('_', '/')
  return placesOf(bytes, part).map((place) => {
    let from = place
    let to = place + part.length
    while (isOfBase64(bytes[from - 1])) from -= 1
    while (isOfBase64(bytes[to])) to += 1
    return rangeOf(reading, from, to)
  })
}

const isOfBase64 = (character = ' ') => /[a-z\d+/=]/i.test(character)

function placesOf(bytes: string, wanted: string): number[] {
  const places: number[] = []
  let place = bytes.indexOf(wanted)
  while (place !== -1) {
    places.push(place)
    place = bytes.indexOf(wanted, place + wanted.length)
  }
  return places
}

function rangeOf({ starts, ends }: Reading, from: number, to: number): Range {
  return [starts[from] ?? 0, ends[to - 1] ?? 0]
}

/** Hides the ranges of a text. Ranges that overlap are one. */
function withoutRanges(bytes: string, ranges: readonly Range[]): string {
  let shown = ''
  let at = 0
  for (const [start, end] of ranges.toSorted(([before], [after]) => before - after)) {
    if (start >= at) shown += bytes.slice(at, start) + HIDDEN
    at = Math.max(at, end)
  }
  return Buffer.from(shown + bytes.slice(at), 'latin1').toString()
}
