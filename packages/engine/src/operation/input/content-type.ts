// Media types, as headers and contracts write them.

/** Whether the bodies of a media type are JSON. @param type in lower case, without parameters */
export function isJsonType(type: string): boolean {
  return /^(application|text)\/json$|\+json$/.test(type)
}

/** RFC 9110, section 5.6.6, without escapes. The charset must be UTF-8, at most once; other parameters are ignored. */
const PARAMETERS =
  /^(?!.*charset.*charset)(?:[ \t]*;[ \t]*(?:charset=("?)utf-8\1|(?!charset)[\w-]+=(?:[\w.+-]+|"[^"\\]*")))*(?:[ \t]*;)?[ \t]*$/i

const TYPE = /^[\w!#$%&'+.^`|~-]+\/[\w!#$%&'+.^`|~-]+/

/** The media type of a `Content-Type`, in lower case; empty if it is malformed, or has another charset than UTF-8. */
export function typeInUtf8(contentType: string): string {
  const [type = ''] = TYPE.exec(contentType) ?? []
  return PARAMETERS.test(contentType.slice(type.length)) ? type.toLowerCase() : ''
}

/** The key of a media type in the content of a contract: the type itself, all of its kind, or any type. */
export function findType(content: object, type: string): string | undefined {
  if (type === '') return undefined
  if (Object.hasOwn(content, type)) return type
  const ranges = [type.replace(/\/.*/, '/*'), '*/*']
  return ranges.find((range) => Object.hasOwn(content, range))
}
