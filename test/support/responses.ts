import type { IncomingHttpHeaders } from 'node:http'

/** A response as it was read from a socket. */
export interface RawResponse {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
  /** The length of the whole response in bytes. */
  readonly length: number
}

/** Reads the complete HTTP/1.1 responses at the beginning of some bytes. */
export function readResponses(bytes: Buffer): RawResponse[] {
  const text = bytes.toString('latin1')
  const responses: RawResponse[] = []
  for (let at = 0; ;) {
    const end = text.indexOf('\r\n\r\n', at)
    if (end === -1) return responses
    const [statusLine = '', ...lines] = text.slice(at, end).split('\r\n')
    const headers = Object.fromEntries(
      lines.map((line) => {
        const colon = line.indexOf(':')
        return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
      }),
    )
    const length = Number(headers['content-length'] ?? 0)
    if (text.length < end + 4 + length) return responses
    const start = at
    at = end + 4 + length
    const body = bytes.subarray(end + 4, at).toString()
    responses.push({ status: Number(statusLine.split(' ')[1]), headers, text: body, length: at - start })
  }
}
