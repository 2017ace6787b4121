// Compares media types, as written in headers and contracts.
import { parse } from 'content-type'

/** Whether the bodies of a media type are JSON. @param type in lower case, without parameters */
export function isJsonType(type: string): boolean {
  return /^(application|text)\/json$|\+json$/.test(type)
}

const TYPE = /^[\w!#$%&'+.^`|~-]+\/[\w!#$%&'+.^`|~-]+$/
/** RFC 9110, section 5.6.6, without escapes. The library would skip malformed parameters. */
const PARAMETERS = /^[^;]*(?:;[ \t]*[\w-]+=(?:[\w.+-]+|"[^"\\]*")[ \t]*)*(?:;[ \t]*)?$/

/**
 * The media type of a `Content-Type`, in lower case. Other parameters than `charset` are ignored.
 * @returns an empty string if it is malformed, or its charset is not UTF-8 or is repeated
 */
export function typeInUtf8(contentType: string): string {
  const { type, parameters } = parse(contentType)
  const { charset = 'utf-8' } = parameters
  const isUtf8 = charset.toLowerCase() === 'utf-8'
  const isRepeated = /charset.*charset/i.test(contentType)
  const isWellFormed = TYPE.test(type) && PARAMETERS.test(contentType)
  return isWellFormed && isUtf8 && !isRepeated ? type : ''
}

/**
 * The key of a media type in the content of a contract: the type itself, all of its kind, or any
 * type.
 */
export function findType(content: object, type: string): string | undefined {
  if (type === '') return undefined
  if (Object.hasOwn(content, type)) return type
  const ranges = [type.replace(/\/.*/, '/*'), '*/*']
  return ranges.find((range) => Object.hasOwn(content, range))
}
