// The form of our own access tokens: a prefix that secret scanners can look for, 160 random bits and their CRC-32.
import { createHash, randomFillSync } from 'node:crypto'
import { crc32 } from 'node:zlib'

const TOKEN = /^plant_([0-9a-f]{40})([0-9a-f]{8})$/
/** What holds a token. */
export const TOKEN_TEXT = /plant_[0-9a-f]{48}/
const DIGITS = Buffer.from('0123456789abcdef')

/** Makes a token, in bytes: they can be wiped out of memory, a string can't. */
export function randomToken(): Buffer {
  const token = Buffer.from(`plant_${'0'.repeat(48)}`)
  const random = randomFillSync(token.subarray(6, 46))
  for (const [at, byte] of random.entries()) random.set(DIGITS.subarray(byte % 16, (byte % 16) + 1), at)
  token.write(checksum(random), 46)
  return token
}

/** Whether a text has the form of a token, so that a typing error is found without a look-up. */
export function hasTokenForm(text: string): boolean {
  const [, random, sum] = TOKEN.exec(text) ?? []
  return random !== undefined && sum === checksum(random)
}

/** The SHA-256 of a token: the only part of it that is stored. */
export function digestOf(token: string | Buffer): Buffer {
  return createHash('sha256').update(token).digest()
}

function checksum(random: string | Buffer): string {
  return crc32(random).toString(16).padStart(8, '0')
}
