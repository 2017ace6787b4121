/** Decisions that bytes make: the fewer and the smaller the bytes are, the simpler is what comes out. */
export class Choices {
  readonly #bytes: Uint8Array
  #at = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  /** A number from 0 up, below one that is at most 65,536; 0 when there are no more bytes. */
  below(count: number): number {
    return (count > 256 ? this.#next() * 256 + this.#next() : this.#next()) % count
  }

  of<Item>(items: readonly [Item, ...Item[]]): Item {
    return items[this.below(items.length)] ?? items[0]
  }

  /** So many times, at most, what a function makes. */
  some<Item>(most: number, make: () => Item): Item[] {
    return Array.from({ length: this.below(most + 1) }, make)
  }

  #next(): number {
    return this.#bytes[this.#at++] ?? 0
  }
}

/** Pieces to put into bytes: words between spaces, and others as they are. */
export function piecesOf(words: string, ...others: readonly (string | Buffer)[]): [Buffer, ...Buffer[]] {
  const [first = Buffer.of(), ...rest] = [...words.split(' '), ...others].map((each) => Buffer.from(each))
  return [first, ...rest]
}

/** Changes bytes at some places: one is another, some are gone, twice, or others are put in. */
export function mutate(choices: Choices, bytes: Buffer, words: readonly [Buffer, ...Buffer[]]): Buffer {
  let changed = bytes
  for (let left = 1 + choices.below(3); left > 0; left -= 1) {
    const at = choices.below(Math.min(changed.length + 1, 65_536))
    const end = at + choices.below(9)
    const [before, some, after] = [changed.subarray(0, at), changed.subarray(at, end), changed.subarray(end)]
    const put = choices.of([
      () => [choices.of(words), some],
      () => [Buffer.of(choices.below(256)), some.subarray(1)],
      () => [],
      () => [some, some],
      () => [choices.of(words)],
    ])()
    changed = Buffer.concat([before, ...put, after])
  }
  return changed
}
