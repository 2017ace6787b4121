// Reads a parameter as JSON: with `content` in place of `schema`.
import { HttpError } from '../../../errors.ts'
import { parseJson } from '../../../http/json.ts'
import { orRefuse } from '../strings/parsing.ts'
import { REPEATED } from '../strings/sent.ts'
import { stringsReader } from './place.ts'
import type { Style } from './style.ts'

export const json: Style = (parameter) => {
  const { in: place, name } = parameter
  const read = stringsReader(parameter)
  return (received, request) => {
    const strings = read(received, request)
    if (strings === undefined) return undefined
    const [string = '', ...others] = strings
    const isRepeated = others.length > 0 && place !== 'header' // Node joins repeated headers
    if (isRepeated) throw new HttpError(400, `${place}/${name} ${REPEATED}`)
    return orRefuse(() => parseJson(Buffer.from(string)), `${place}/${name} must be JSON`)
  }
}
