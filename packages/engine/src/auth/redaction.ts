// Hides credentials in the errors of guards. A library's message may quote them as received or as
// sent on: percent-encoded, or in base64.

const HIDDEN = '***'
/** How many times a message is percent-decoded: a URL may stand in a parameter of another one. */
const MAX_DECODED = 2
/** Fewer characters of base64 would be found in words by chance. */
const MIN_BASE64 = 4

/** A message as bytes, one character for each, and the range of each in the shown message. */
interface Reading {
  readonly bytes: string
  readonly starts: readonly number[]
  readonly ends: readonly number[]
}
type Range = readonly [start: number, end: number]

/**
 * Makes the function that hides credentials in a message. @param credentials without the name of
 * their scheme
 */
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

/** The strings to hide: the credentials, and their decoded parts. */
function secretsIn(credentials: string): string[] {
  const texts = [credentials, inUtf8(credentials)]
  const decoded = texts.flatMap((text) => decodeBase64(text))
  const passwords = decoded.map((text) => text.slice(text.indexOf(':') + 1)) // RFC 7617, section 2
  const secrets = [...texts, ...decoded, ...passwords]
  const written = secrets.flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1)])
  return [...new Set(written)].filter((secret) => secret !== '')
}

/** Decodes a header as UTF-8, which Node reads as Latin-1. */
function inUtf8(text: string): string {
  return Buffer.from(text, 'latin1').toString()
}

/**
 * Decodes base64 as UTF-8 and as Latin-1; an empty list if it is no base64, or holds control
 * characters.
 */
function decodeBase64(text: string): string[] {
  const bytes = Buffer.from(text, 'base64')
  const isBase64 = toBase64(bytes) === toPlainBase64(text)
  const texts = isBase64 ? [bytes.toString(), bytes.toString('latin1')] : []
  return texts.filter((decoded) => !/[\p{Cc}\uFFFD]/u.test(decoded))
}

const toBase64 = (bytes: Buffer) => bytes.toString('base64').replace(/=+$/, '')
const toPlainBase64 = (text: string) =>
  text.replaceAll('-', '+').replaceAll('_', '/').replace(/=+$/, '')

/** Encodes a string in UTF-8, with one character for each byte. */
const toBytes = (text: string) => Buffer.from(text).toString('latin1')

/**
 * The spellings of bytes in base64, wherever they stand in a longer sequence. Three bytes become
 * four characters, so there are three spellings. The characters at both ends are cut: they share
 * bits with the bytes beside.
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

/** A message as it is, and percent-decoded. */
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

/** Finds a secret. Forms write `+` for a space. */
function plainRanges(reading: Reading, secret: string): Range[] {
  const withPlus = (text: string) => text.replaceAll(' ', '+')
  const bytes = withPlus(reading.bytes)
  const places = placesOf(bytes, withPlus(secret))
  return places.map((place) => rangeOf(reading, place, place + secret.length))
}

/** Finds a part in base64, of either alphabet, with all of the base64 around it. */
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

/** Replaces the ranges of a message. Overlapping ranges become one. */
function withoutRanges(bytes: string, ranges: readonly Range[]): string {
  let shown = ''
  let at = 0
  for (const [start, end] of ranges.toSorted(([before], [after]) => before - after)) {
    if (start >= at) shown += bytes.slice(at, start) + HIDDEN
    at = Math.max(at, end)
  }
  return Buffer.from(shown + bytes.slice(at), 'latin1').toString()
}
