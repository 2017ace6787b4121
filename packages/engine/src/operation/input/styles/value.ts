// Reads a parameter without commas: `a=1`, and in a query `a=1&a=2` for a list (style `form` with
// `explode`).
import { Sent } from '../strings/sent.ts'
import { stringsReader } from './place.ts'
import type { Style } from './style.ts'

export const value: Style = (parameter) => {
  const read = stringsReader(parameter)
  return (received, request) => {
    const strings = read(received, request)
    return strings === undefined ? undefined : new Sent(strings)
  }
}
