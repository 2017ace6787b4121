// Requests in shapes that gateways and servers are known to read differently.

/** Bytes after each request. If a program reads them as a request, its 404 and its line in the log show it. */
export const SMUGGLED = 'GET /smuggled HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n'
const JSON_TEXT = '{"id":5,"name":"xyz"}'
const CHUNKED = `15\r\n${JSON_TEXT}\r\n0\r\n\r\n`

/**
 * Requests that programs are known to frame differently, by name, and the service's statuses. A 404 at the
 * end answers SMUGGLED. Without it, the service closes the connection, and never reads SMUGGLED.
 */
export function shapes(
  token: string,
): Readonly<Record<string, readonly [bytes: string, ...statuses: number[]]>> {
  const common = `Host: h\r\nAuthorization: Bearer ${token}\r\n`
  const get = `GET /plants HTTP/1.1\r\n${common}`
  const post = `POST /plants HTTP/1.1\r\n${common}Content-Type: application/json\r\n`
  const getWithBody = `${get}Content-Length: 21\r\n\r\n${JSON_TEXT}${SMUGGLED}`
  const h2c = 'HTTP2-Settings: AAMAAABkAAQAAP__'
  /** A create with header lines and a body. */
  const create = (lines: string, body: string) => `${post}${lines}\r\n\r\n${body}${SMUGGLED}`
  const chunked = (lines: string) => create(lines, CHUNKED)
  const json = (lines: string) => create(lines, JSON_TEXT)
  const coding = (text: string) => chunked(`Transfer-Encoding: ${text}`)
  const length = (text: string) => json(`Content-Length: ${text}`)
  const endOfSize = (text: string) =>
    chunked('Transfer-Encoding: chunked').replace('15\r\n', `15${text}`)
  const chunkSize = (text: string) =>
    chunked('Transfer-Encoding: chunked').replace('15\r\n', `${text}\r\n`)
  const endOfChunk = (text: string) =>
    create('Transfer-Encoding: chunked', `15\r\n${JSON_TEXT}${text}`)
  const endOfHeader = (text: string) => `${get}${text}${SMUGGLED}`
  const after = (lines: string) => `${lines}\r\n${SMUGGLED}`
  /** Shapes of a kind, each named by its bytes. @param texts separated by | */
  const framed = (make: (text: string) => string, statuses: readonly number[], texts: string) =>
    Object.fromEntries(
      texts
        .split('|')
        .map((text) => [
          `${make.name} ${JSON.stringify(text)}`,
          [make(text), ...statuses] as const,
        ]),
    )
  return {
    // RFC 9112, section 6.3: a length and a transfer coding
    ...framed(coding, [400], 'chunked\r\nContent-Length: 5'),
    ...framed(chunked, [400], 'Content-Length: 5\r\nTransfer-Encoding: chunked'),
    ...framed(chunked, [400], 'Content-Length: 0\r\nTransfer-Encoding: chunked'),
    ...framed(json, [400], 'Content-Length: 21\r\nTransfer-Encoding: x'),

    // Section 6.1: transfer codings
    ...framed(coding, [200, 404], 'CHUNKED'),
    ...framed(
      coding,
      [400],
      'chunked\0|chunked, gzip|chunked, identity|chunked, chunked|\r\n chunked',
    ),
    ...framed(
      coding,
      [400],
      'chunked\r\nTransfer-Encoding: x|chunked\r\nTransfer-Encoding: chunked',
    ),
    ...framed(coding, [501], `xchunked|chunked;q=1|"chunked"|'chunked'|gzip, chunked|, chunked`),
    ...framed(coding, [501], 'x\r\nTransfer-Encoding: chunked'),
    ...framed(chunked, [200, 404], 'Transfer-Encoding:\tchunked'),
    ...framed(chunked, [400], 'Transfer-Encoding:\vchunked|Transfer-Encoding : chunked'),
    ...framed(json, [200, 404], 'Content-Length: 21\r\nTransfer_Encoding: chunked'),
    ...framed(json, [400], 'Content-Length: 21\r\nX: a\nTransfer-Encoding: chunked'),
    ...framed(json, [400], 'Content-Length: 21\r\nX: a\rTransfer-Encoding: chunked'),
    identity: [create('Transfer-Encoding: identity', ''), 501],
    'an empty coding': [create('Transfer-Encoding: ', ''), 400],
    'xchunked, and a path that is not UTF-8': [coding('xchunked').replace('/plants', '/%FF'), 400],
    'chunked in HTTP/1.0': [coding('chunked').replace('HTTP/1.1', 'HTTP/1.0'), 200],
    'GET with a chunked body': [
      `${get}Transfer-Encoding: chunked\r\n\r\n${CHUNKED}${SMUGGLED}`,
      200,
      404,
    ],

    // Section 6.2: lengths
    ...framed(
      length,
      [400],
      '21\r\nContent-Length: 22|21\r\nContent-Length: 21|21, 21|+21|-21|0x15|21.0|21a|2 1',
    ),
    ...framed(length, [400], '18446744073709551637||21\0|\r\n 21'),
    ...framed(length, [200, 404], '0021|21\r\nConnection: Content-Length'),
    ...framed(json, [400], 'Content-Length : 21'),
    'GET with a body': [getWithBody, 200, 404],
    'DELETE with a body': [getWithBody.replace('GET /plants', 'DELETE /plants/6'), 404, 404],

    // Section 7.1: chunks
    ...framed(chunkSize, [400], '-15|0x15|1_5| 15|15 |10000000000000015|'),
    ...framed(chunkSize, [200, 404], '15;a=b'),
    ...framed(endOfSize, [400], '\n|;a\n'),
    ...framed(endOfChunk, [400], '0\r\n\r\n|XX0\r\n\r\n'),
    ...framed(
      endOfChunk,
      [400],
      '\r\n0\n\r\n|\r\n0\r\n\n|\r\n0\r\nContent-Length: 50\r\n\r\n|\r\n0\r\nX : a\r\n\r\n',
    ),

    // Sections 2.2, 3 and 5: the request line and the header
    'an empty line before': [after(`\r\n${get}`), 200, 404],
    'a space before': [after(` ${get}`), 400],
    'two spaces in the request line': [after(get.replace(' ', '  ')), 200, 404],
    'a tab in the request line': [after(get.replace(' ', '\t')), 400],
    'a request line with a bare LF': [after(get.replace('\r\n', '\n')), 400],
    'a request line with more words': [after(get.replace('HTTP', 'HTTP/1.1 HTTP')), 400],
    ...framed(
      endOfHeader,
      [400],
      'Content-Length\r\n\r\n|: 21\r\n\r\n| Content-Length: 21\r\n\r\n|\n',
    ),

    // The bytes after the request have another meaning
    'an offer to upgrade to h2c': [
      after(`${get}Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n${h2c}\r\n`),
      200,
    ],
    'an offer to upgrade, with a body': [
      length('21\r\nConnection: Upgrade\r\nUpgrade: websocket'),
      200,
    ],
    'Expect with the body at once': [length('21\r\nExpect: 100-continue'), 100, 200, 404],
    'Expect that is not met, with a body': [length('21\r\nExpect: x'), 417],
    CONNECT: [`CONNECT h:80 HTTP/1.1\r\n${common}\r\n${SMUGGLED}`, 501],
    'an absolute URI of another host': [
      after(get.replace('/plants', 'http://other/plants')),
      200,
      404,
    ],
  }
}
