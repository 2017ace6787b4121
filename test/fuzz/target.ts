import net from 'node:net'
import { type RawResponse, readResponses } from '../support/responses.ts'

/** A service to send bytes to. */
export interface Target {
  /** The header lines of a request with an access token. */
  readonly headers: string
  /** A request for the end, whose answer closes the connection. */
  readonly last: string
  /**
   * Sends bytes on a connection of their own.
   * @param quiet milliseconds without a byte after which no more will be sent, for what was may be a part of a request
   * @returns all answers
   * @throws {Error} if bytes come that are no answer, or no end
   */
  readonly exchange: (bytes: Buffer, quiet?: number) => Promise<RawResponse[]>
}

/** Milliseconds after which it hangs: more than it waits for the rest of a request. */
const HANGS = 10_000

/** @param token of a caller who has no plants, or few */
export function targetOf(port: number, token: string): Target {
  return {
    headers: `Host: h\r\nAuthorization: Bearer ${token}\r\n`,
    last: 'GET /last HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n',
    exchange: async (bytes, quiet = HANGS) => {
      const received = await new Promise<Buffer>((resolve, reject) => {
        const chunks: Buffer[] = []
        const socket = net.connect({ port, host: '127.0.0.1', noDelay: true })
        const hangs = setTimeout(() => reject(new Error('the connection hangs')), HANGS)
        const rest = setTimeout(() => socket.end(), quiet)
        socket.on('data', (chunk: Buffer) => {
          chunks.push(chunk)
          rest.refresh()
        })
        socket.on('error', (error: NodeJS.ErrnoException) => {
          // A service that refuses what it is sent may close before it has read all of it; one that is gone refuses all.
          if (error.code === 'ECONNREFUSED') reject(error)
        })
        socket.on('close', () => {
          clearTimeout(rest)
          clearTimeout(hangs)
          resolve(Buffer.concat(chunks))
        })
        socket.write(bytes)
      })
      const answers = readResponses(received)
      const rest = received.length - answers.reduce((sum, { length }) => sum + length, 0)
      if (rest > 0) throw new Error(`no whole answer: ${received.subarray(-rest).toString().slice(0, 300)}`)
      return answers
    },
  }
}
