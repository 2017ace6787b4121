// Sends bytes on a connection, and reads the responses.
import type { IncomingHttpHeaders } from 'node:http'
import net from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'

/** A response, read from a socket. */
export interface RawResponse {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
  /** The length of the whole response in bytes. */
  readonly length: number
}

/** A connection without a byte for so many milliseconds hangs: a service waits less for the rest of a request. */
const HANGS = 10_000

/**
 * Sends bytes on a new connection; a number pauses for milliseconds.
 * @param count the number of responses to read
 * @param quiet milliseconds without a byte which end the reading: the bytes may be a part of a request
 * @returns the bytes until then, or until the other side has closed
 */
export async function exchange(
  port: number,
  parts: readonly (string | Buffer | number)[],
  count = Infinity,
  quiet = HANGS,
): Promise<Buffer> {
  let received = Buffer.alloc(0)
  const socket = net.connect({ port, host: '127.0.0.1', noDelay: true })
  const rest = setTimeout(() => socket.end(), quiet)
  const over = new Promise<void>((resolve, reject) => {
    socket.on('data', (chunk: Buffer) => {
      received = Buffer.concat([received, chunk])
      rest.refresh()
      if (count !== Infinity && readResponses(received).length >= count) resolve()
    })
    socket.on('close', resolve).on('error', (error: NodeJS.ErrnoException) => {
      // A service may refuse a request and close before it has read all of it; a stopped service refuses all.
      if (error.code === 'ECONNREFUSED') reject(error)
    })
    socket.setTimeout(HANGS, () =>
      reject(new Error(`no answer to ${parts.join('').slice(0, 100)}`)),
    )
  })
  for (const part of parts) {
    if (typeof part === 'number') await delay(part)
    else socket.write(part)
  }
  await over.finally(() => {
    clearTimeout(rest)
    socket.destroy()
  })
  return received
}

/** Reads the complete HTTP/1.1 responses at the beginning of bytes. */
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
    const next = end + 4 + length
    const body = bytes.subarray(end + 4, next).toString()
    responses.push({
      status: Number(statusLine.split(' ')[1]),
      headers,
      text: body,
      length: next - at,
    })
    at = next
  }
}
