// Parses forms in parts: multipart/form-data (RFC 7578), by the grammar of RFC 2046, section 5.1.1.
import { orRefuse, parseText } from './strings/parsing.ts'
import { HttpError } from '../../errors.ts'

/** A field or a file of a form. */
export interface MultipartPart {
  readonly name: string
  /** Only a file has one. */
  readonly filename: string | undefined
  /** Its `Content-Type`. */
  readonly type: string | undefined
  readonly bytes: Buffer
}

const MALFORMED = new HttpError(400, 'The form is malformed')
const ENCODED = new HttpError(400, 'A part of the form must not have a Content-Transfer-Encoding')
const MAX_BOUNDARY_LENGTH = 70 // RFC 2046, section 5.1.1

/** The bytes after the last delimiter: two hyphens, and the end of the line or of the body. */
const END = /^--(?:\r\n|[ \t]|$)/
/** RFC 9112, section 5, without folded lines. */
const HEADER = /^([\w!#$%&'*+.^`|~-]+):([^\r\n\0]*)$/
/**
 * A parameter of a header. Browsers write a quote in a quoted string as `%22`, and a backslash as
 * it is.
 */
const PARAMETER = /[ \t]*;[ \t]*([\w-]+\*?)=(?:"([^"]*)"|([^\s";]+))/gy
/** The encodings that leave the bytes as they are (RFC 2045, section 6.2). */
const IDENTITY = /^(?:7bit|8bit|binary)$/i

/**
 * Parses the parts of a form, one after the other.
 * @param contentType of the form, with the boundary
 * @throws {HttpError} 400 if the form is malformed, or has a name not in UTF-8
 */
export function* parseParts(bytes: Buffer, contentType: string): Generator<MultipartPart> {
  const delimiter = Buffer.from(`\r\n--${boundaryOf(contentType)}`, 'latin1')
  const firstLine = delimiter.subarray(2)
  const isFirst = bytes.subarray(0, firstLine.length).equals(firstLine)
  let start = isFirst ? firstLine.length : after(bytes.indexOf(delimiter))
  while (!END.test(bytes.toString('latin1', start, start + 4))) {
    const next = after(bytes.indexOf(delimiter, start))
    yield parsePart(bytes.subarray(start, next - delimiter.length))
    start = next
  }

  /** The position after a delimiter. */
  function after(at: number): number {
    if (at === -1) throw MALFORMED
    return at + delimiter.length
  }
}

function boundaryOf(contentType: string): string {
  const boundary = parametersOf(contentType.replace(/^[^;]*/, '')).get('boundary') ?? ''
  if (boundary === '' || boundary.length > MAX_BOUNDARY_LENGTH) throw MALFORMED
  return boundary
}

/**
 * @param part the bytes between two delimiters: the end of a line, headers, an empty line, and
 * bytes
 */
function parsePart(part: Buffer): MultipartPart {
  const end = part.indexOf('\r\n\r\n')
  if (end === -1) throw MALFORMED
  const headers = parseHeaders(parseText(part.subarray(0, end)))
  const [type, ...rest] = /^form-data(.*)$/is.exec(headers.get('content-disposition') ?? '') ?? []
  if (type === undefined) throw MALFORMED
  const parameters = parametersOf(rest.join(''))
  const name = parameters.get('name')
  if (name === undefined) throw MALFORMED
  if (!IDENTITY.test(headers.get('content-transfer-encoding') ?? 'binary')) throw ENCODED
  return {
    name: unescape(name),
    filename: filenameOf(parameters),
    type: headers.get('content-type'),
    bytes: part.subarray(end + 4),
  }
}

/**
 * The headers used by forms, by their names in lower case. All others are ignored (RFC 7578,
 * section 4.8).
 */
function parseHeaders(text: string): ReadonlyMap<string, string> {
  const [padding = '', ...lines] = text.split('\r\n')
  if (!/^[ \t]*$/.test(padding)) throw MALFORMED
  const headers = new Map<string, string>()
  for (const line of lines) {
    const [, name, value = ''] = HEADER.exec(line) ?? []
    if (name === undefined) throw MALFORMED
    const key = name.toLowerCase()
    if (!key.startsWith('content-')) continue
    if (headers.has(key)) throw MALFORMED
    headers.set(key, value.trim())
  }
  return headers
}

/**
 * The parameters of a header by their names in lower case. @param text begins with a semicolon, or
 * is empty
 */
function parametersOf(text: string): ReadonlyMap<string, string> {
  const parameters = new Map<string, string>()
  let end = 0
  for (const [parameter, name = '', quoted, token = ''] of text.matchAll(PARAMETER)) {
    const key = name.toLowerCase()
    if (parameters.has(key)) throw MALFORMED
    parameters.set(key, quoted ?? token)
    end += parameter.length
  }
  if (!/^[ \t]*;?[ \t]*$/.test(text.slice(end))) throw MALFORMED
  return parameters
}

/** The name of a file. Some clients write it as in RFC 8187, section 3.2. */
function filenameOf(parameters: ReadonlyMap<string, string>): string | undefined {
  const extended = parameters.get('filename*')
  if (extended === undefined) {
    const filename = parameters.get('filename')
    return filename === undefined ? undefined : unescape(filename)
  }
  const [, encoded] = /^utf-8'[^']*'(.*)$/i.exec(extended) ?? []
  if (encoded === undefined) throw MALFORMED
  return orRefuse(() => decodeURIComponent(encoded), MALFORMED.message)
}

/** https://html.spec.whatwg.org/multipage/form-control-infrastructure.html#multipart-form-data */
function unescape(name: string): string {
  return name.replaceAll(/%0A|%0D|%22/gi, decodeURIComponent)
}
