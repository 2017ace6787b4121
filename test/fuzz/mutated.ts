import fc from 'fast-check'

/** Pieces to put into bytes: words between spaces, and others as they are. */
export function piecesOf(words: string, ...others: readonly (string | Buffer)[]): Buffer[] {
  return [...words.split(' '), ...others].map((word) => Buffer.from(word))
}

const BORDERS = [
  0n,
  1n,
  10n,
  2n ** 31n,
  2n ** 32n,
  2n ** 53n,
  10n ** 15n,
  10n ** 16n,
  2n ** 63n,
  2n ** 64n,
  10n ** 30n,
]
/** Integers at which something changes, and those beside them. */
export const border = fc
  .tuple(fc.constantFrom(...BORDERS), fc.bigInt(-3n, 3n))
  .map(([near, more]) => near + more)

/** Joined strings. */
export const joined = (...parts: fc.Arbitrary<string>[]) =>
  fc.tuple(...parts).map((strings) => strings.join(''))

/** The mutations. */
type Change = (bytes: Buffer) => Buffer[]

function putBefore(word: Buffer): Change {
  return (bytes) => [word, bytes]
}

function putInstead(word: Buffer): Change {
  return () => [word]
}

function startWith(byte: number): Change {
  return (bytes) => [Buffer.of(byte), bytes.subarray(1)]
}

const remove: Change = () => []
const double: Change = (bytes) => [bytes, bytes]

/** Changes bytes at one to three places: some are others, gone, there twice, or words are put in. */
export function mutated(
  bytes: fc.Arbitrary<Buffer>,
  words: readonly Buffer[],
): fc.Arbitrary<Buffer> {
  const word = fc.constantFrom(...words)
  const put = fc.oneof(
    word.map(putBefore),
    word.map(putInstead),
    fc.nat(255).map(startWith),
    fc.constantFrom(remove, double),
  )
  const change = fc.record({
    place: fc.double({ min: 0, max: 1, noNaN: true }),
    length: fc.nat(8),
    put,
  })
  return fc.tuple(bytes, fc.array(change, { minLength: 1, maxLength: 3 })).map(([bytes, changes]) =>
    changes.reduce((bytes, { place, length, put }) => {
      const at = Math.round(place * bytes.length)
      const piece = bytes.subarray(at, at + length)
      return Buffer.concat([bytes.subarray(0, at), ...put(piece), bytes.subarray(at + length)])
    }, bytes),
  )
}
