/** Bytes after each request. If a program reads them as a request, its 404 and its line in the log show it. */
export const SMUGGLED = 'GET /smuggled HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n'

const JSON_TEXT = '{"id":5,"name":"xyz"}'
const CHUNKED = `15\r\n${JSON_TEXT}\r\n0\r\n\r\n`

/**
 * Requests that programs are known to frame differently, by name, and the statuses that the service answers. A 404 at the
 * end answers SMUGGLED. Without it, the service closes the connection, and never reads SMUGGLED.
 */
export function shapes(token: string): Readonly<Record<string, readonly [bytes: string, ...statuses: number[]]>> {
  const common = `Host: h\r\nAuthorization: Bearer ${token}\r\n`
  const get = `GET /plants HTTP/1.1\r\n${common}`
  const post = `POST /plants HTTP/1.1\r\n${common}Content-Type: application/json\r\n`
  /** A create with header lines and a body. */
  const create = (lines: string, body: string) => `${post}${lines}\r\n\r\n${body}${SMUGGLED}`
  const length = (text: string) => create(`Content-Length: ${text}`, JSON_TEXT)
  const coding = (lines: string, body = CHUNKED) => create(`Transfer-Encoding: ${lines}`, body)
  const chunk = (text: string) => coding('chunked', text)
  return {
    // RFC 9112, section 6.3: a length and a transfer coding
    'Content-Length, then Transfer-Encoding': [create('Content-Length: 5\r\nTransfer-Encoding: chunked', CHUNKED), 400],
    'Transfer-Encoding, then Content-Length': [create('Transfer-Encoding: chunked\r\nContent-Length: 5', CHUNKED), 400],
    'Content-Length: 0 beside chunked': [create('Content-Length: 0\r\nTransfer-Encoding: chunked', CHUNKED), 400],
    'Content-Length beside a coding that is not known': [
      create('Content-Length: 21\r\nTransfer-Encoding: x', JSON_TEXT),
      400,
    ],

    // Section 6.1: transfer codings
    'chunked in capital letters': [coding('CHUNKED'), 200, 404],
    'chunked after a tab': [create('Transfer-Encoding:\tchunked', CHUNKED), 200, 404],
    'chunked after a vertical tab': [create('Transfer-Encoding:\vchunked', CHUNKED), 400],
    'chunked before NUL': [coding('chunked\0'), 400],
    xchunked: [coding('xchunked'), 501],
    'chunked;q=1': [coding('chunked;q=1'), 501],
    '"chunked"': [coding('"chunked"'), 501],
    "'chunked'": [coding("'chunked'"), 501],
    'xchunked, and a path that is not UTF-8': [coding('xchunked').replace('/plants', '/%FF'), 400],
    identity: [coding('identity', ''), 501],
    'gzip, chunked': [coding('gzip, chunked'), 501],
    'chunked, gzip': [coding('chunked, gzip'), 400],
    'chunked, identity': [coding('chunked, identity'), 400],
    'chunked, chunked': [coding('chunked, chunked'), 400],
    'a comma and chunked': [coding(', chunked'), 501],
    'an empty coding': [coding('', ''), 400],
    'chunked, and in a second line another': [coding('chunked\r\nTransfer-Encoding: x'), 400],
    'another, and in a second line chunked': [coding('x\r\nTransfer-Encoding: chunked'), 501],
    'chunked in two lines': [coding('chunked\r\nTransfer-Encoding: chunked'), 400],
    'chunked in a folded line': [coding('\r\n chunked'), 400],
    'chunked in HTTP/1.0': [coding('chunked').replace('HTTP/1.1', 'HTTP/1.0'), 200],
    'a space before the colon of Transfer-Encoding': [create('Transfer-Encoding : chunked', CHUNKED), 400],
    Transfer_Encoding: [create('Content-Length: 21\r\nTransfer_Encoding: chunked', JSON_TEXT), 200, 404],
    'chunked after a bare LF': [create('Content-Length: 21\r\nX: a\nTransfer-Encoding: chunked', JSON_TEXT), 400],
    'chunked after a bare CR': [create('Content-Length: 21\r\nX: a\rTransfer-Encoding: chunked', JSON_TEXT), 400],
    'GET with a chunked body': [`${get}Transfer-Encoding: chunked\r\n\r\n${CHUNKED}${SMUGGLED}`, 200, 404],

    // Section 6.2: lengths
    'two lengths': [length('21\r\nContent-Length: 22'), 400],
    'the same length twice': [length('21\r\nContent-Length: 21'), 400],
    'a list of the same length': [length('21, 21'), 400],
    'a length with a plus': [length('+21'), 400],
    'a length with a minus': [length('-21'), 400],
    'a length in hexadecimal': [length('0x15'), 400],
    'a length with a point': [length('21.0'), 400],
    'a length with a letter': [length('21a'), 400],
    'a length in two parts': [length('2 1'), 400],
    'a length beyond 2^64': [length('18446744073709551637'), 400],
    'no length': [length(''), 400],
    'a length before NUL': [length('21\0'), 400],
    'a length with zeros before it': [length('0021'), 200, 404],
    'a folded length': [length('\r\n 21'), 400],
    'a space before the colon of Content-Length': [create('Content-Length : 21', JSON_TEXT), 400],
    'GET with a body': [`${get}Content-Length: 21\r\n\r\n${JSON_TEXT}${SMUGGLED}`, 200, 404],
    'DELETE with a body': [
      `DELETE /plants/6 HTTP/1.1\r\n${common}Content-Length: 21\r\n\r\n${JSON_TEXT}${SMUGGLED}`,
      404,
      404,
    ],
    'Content-Length named by Connection': [length('21\r\nConnection: Content-Length'), 200, 404],

    // Section 7.1: chunks
    'a chunk size with a minus': [chunk(`-15\r\n${JSON_TEXT}\r\n0\r\n\r\n`), 400],
    'a chunk size with 0x': [chunk(`0x15\r\n${JSON_TEXT}\r\n0\r\n\r\n`), 400],
    'a chunk size with a low line': [chunk(`1_5\r\n${JSON_TEXT}\r\n0\r\n\r\n`), 400],
    'a chunk size after a space': [chunk(` 15\r\n${JSON_TEXT}\r\n0\r\n\r\n`), 400],
    'a chunk size before a space': [chunk(`15 \r\n${JSON_TEXT}\r\n0\r\n\r\n`), 400],
    'a chunk size beyond 2^64': [chunk(`10000000000000015\r\n${JSON_TEXT}\r\n0\r\n\r\n`), 400],
    'no chunk size': [chunk(`\r\n${JSON_TEXT}\r\n0\r\n\r\n`), 400],
    'a chunk size before a bare LF': [chunk(`15\n${JSON_TEXT}\r\n0\r\n\r\n`), 400],
    'a chunk extension': [chunk(`15;a=b\r\n${JSON_TEXT}\r\n0\r\n\r\n`), 200, 404],
    'a chunk extension before a bare LF': [chunk(`15;a\n${JSON_TEXT}\r\n0\r\n\r\n`), 400],
    'a chunk without its end': [chunk(`15\r\n${JSON_TEXT}0\r\n\r\n`), 400],
    'a chunk with other bytes as its end': [chunk(`15\r\n${JSON_TEXT}XX0\r\n\r\n`), 400],
    'a last chunk before a bare LF': [chunk(`15\r\n${JSON_TEXT}\r\n0\n\r\n`), 400],
    'a last chunk with an end of bare LF': [chunk(`15\r\n${JSON_TEXT}\r\n0\r\n\n`), 400],
    'a trailer that is a length': [chunk(`15\r\n${JSON_TEXT}\r\n0\r\nContent-Length: 50\r\n\r\n`), 400],
    'a trailer with a space before its colon': [chunk(`15\r\n${JSON_TEXT}\r\n0\r\nX : a\r\n\r\n`), 400],

    // Sections 2.2, 3 and 5: the request line and the header
    'an empty line before': [`\r\n${get}\r\n${SMUGGLED}`, 200, 404],
    'a space before': [` ${get}\r\n${SMUGGLED}`, 400],
    'two spaces in the request line': [`${get.replace(' ', '  ')}\r\n${SMUGGLED}`, 200, 404],
    'a tab in the request line': [`${get.replace(' ', '\t')}\r\n${SMUGGLED}`, 400],
    'a request line with a bare LF': [`${get.replace('\r\n', '\n')}\r\n${SMUGGLED}`, 400],
    'a request line with more words': [`${get.replace('HTTP', 'HTTP/1.1 HTTP')}\r\n${SMUGGLED}`, 400],
    'a header line without a colon': [`${get}Content-Length\r\n\r\n${SMUGGLED}`, 400],
    'a header line without a name': [`${get}: 21\r\n\r\n${SMUGGLED}`, 400],
    'a header line after a space': [`${get} Content-Length: 21\r\n\r\n${SMUGGLED}`, 400],
    'an end of headers with a bare LF': [`${get}\n${SMUGGLED}`, 400],

    // The bytes after the request have another meaning
    'an offer to upgrade to h2c': [
      `${get}Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n${SMUGGLED}`,
      200,
    ],
    'an offer to upgrade, with a body': [length('21\r\nConnection: Upgrade\r\nUpgrade: websocket'), 200],
    'Expect with the body at once': [length('21\r\nExpect: 100-continue'), 100, 200, 404],
    'Expect that is not met, with a body': [length('21\r\nExpect: x'), 417],
    CONNECT: [`CONNECT h:80 HTTP/1.1\r\n${common}\r\n${SMUGGLED}`, 501],
    'an absolute URI of another host': [`${get.replace('/plants', 'http://other/plants')}\r\n${SMUGGLED}`, 200, 404],
  }
}
