/** Writes JSON. Each bigint becomes an exact number. */
export function stringify(value: unknown): string {
  return JSON.stringify(value, (_name, each: unknown) =>
    typeof each === 'bigint' ? JSON.rawJSON(String(each)) : each,
  )
}

/** Parses JSON; an integer that a `number` can't hold is a `bigint`. */
export function parse(text: string): unknown {
  return JSON.parse(text, (_name, each: unknown, { source }: { readonly source?: string } = {}) =>
    typeof each === 'number' && /^-?\d+$/.test(source ?? '')
      ? toInteger(BigInt(source ?? ''))
      : each,
  )
}

/** An integer as a `number` if that holds it. */
export const toInteger = (value: bigint) =>
  Number.isSafeInteger(Number(value)) ? Number(value) : value

/** Shortens a value for a message. */
export function brief(value: unknown): string {
  const text = stringify(value)
  return text.length > 60 ? `${text.slice(0, 60)}… (${text.length} characters)` : text
}
