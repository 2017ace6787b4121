// Reads a list with commas, `1,2`: style `simple`, and `form` without `explode`. By its schema it
// may also be one string.
import { Sent } from '../strings/sent.ts'
import { partsReader } from './commas.ts'
import { DECODERS, stringsReader } from './place.ts'
import type { Style } from './style.ts'

export const list: Style = (parameter) => {
  const read = stringsReader(parameter)
  const readParts = partsReader(parameter)
  const decode = DECODERS[parameter.in]
  const isEncoded = parameter.in === 'path'
  return (received, request) => {
    const strings = read(received, request)
    if (strings === undefined) return undefined
    const parts = readParts(strings, request)
    const decoded = isEncoded ? strings.map(decode) : strings
    return new Sent(decoded, parts?.map(decode) ?? null)
  }
}
