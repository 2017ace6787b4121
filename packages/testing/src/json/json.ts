// Reads and writes JSON with exact integers.
/** Writes JSON. A bigint becomes an exact number. */
export function stringify(value: unknown): string {
  return JSON.stringify(value, (_name, member: unknown) =>
    typeof member === 'bigint' ? JSON.rawJSON(String(member)) : member,
  )
}

/** Parses JSON; an integer beyond a `number` is a `bigint`. */
export function parse(text: string): unknown {
  return JSON.parse(
    text,
    (_name, member: unknown, { source }: { readonly source?: string } = {}) =>
      typeof member === 'number' && /^-?\d+$/.test(source ?? '')
        ? toInteger(BigInt(source ?? ''))
        : member,
  )
}

/** An integer as a `number`, if it fits. */
export const toInteger = (value: bigint) =>
  Number.isSafeInteger(Number(value)) ? Number(value) : value

/** Shortens a value for a message. */
export function brief(value: unknown): string {
  const text = stringify(value)
  return text.length > 60 ? `${text.slice(0, 60)}… (${text.length} characters)` : text
}
