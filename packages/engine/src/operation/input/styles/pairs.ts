// Reads an object as names and values between commas, `b,1,c,2`: styles `simple` and `form` without
// `explode`.
import { commaObjectReader } from './commas.ts'
import type { Style } from './style.ts'

export const pairs: Style = (parameter) => commaObjectReader(parameter, entriesOf, 'b,1,c,2')

function entriesOf(parts: readonly string[]): (readonly string[])[] {
  const starts = parts.keys().filter((index) => index % 2 === 0)
  return [...starts].map((index) => parts.slice(index, index + 2))
}
