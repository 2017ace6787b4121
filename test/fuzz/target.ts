import { exchange, readResponses } from '../support/responses.ts'

/** A service to send bytes to. */
export type Target = ReturnType<typeof targetOf>

/** @param token of a caller who has no plants, or few */
export function targetOf(port: number, token: string) {
  return {
    /** The header lines of a request with an access token. */
    headers: `Host: h\r\nAuthorization: Bearer ${token}\r\n`,
    /** A request for the end, whose answer closes the connection. */
    last: 'GET /last HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n',
    /**
     * Sends bytes on a connection of their own.
     * @param quiet milliseconds without a byte after which no more will be sent
     * @returns all answers
     * @throws {Error} if bytes come that are no answer, or no end
     */
    exchange: async (bytes: Buffer, quiet?: number) => {
      const received = await exchange(port, [bytes], Infinity, quiet)
      const answers = readResponses(received)
      const rest = received.length - answers.reduce((sum, { length }) => sum + length, 0)
      if (rest > 0) throw new Error(`no whole answer: ${received.subarray(-rest).toString().slice(0, 300)}`)
      return answers
    },
  }
}
