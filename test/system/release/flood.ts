// A flood of requests, as a process of its own: node flood.ts <port> <plants> <connections> <requests a second> <seconds>
// Each asks for 200 plants after a random id below the number of plants: a page that was hardly ever asked for just now.
// The requests are due at their rate, each on the connection whose turn it is; one that has no answer yet delays its next.
import net from 'node:net'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'

/** What became of the requests: answered 200 within a second, or after it; 503 with Retry-After; otherwise, or not at all. */
export type Outcome = Record<'good' | 'late' | 'refused' | 'other', number>

if (import.meta.main) {
  const [port = 0, plants = 0, connections = 0, rate = 0, seconds = 0] = process.argv.slice(2).map(Number)
  const head = `HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer ${process.env['TOKEN'] ?? ''}\r\n\r\n`
  const id = Buffer.alloc(8)
  const outcome: Outcome = { good: 0, late: 0, refused: 0, other: 0 }

  const sockets: net.Socket[] = []
  while (sockets.length < connections) {
    const some = Array.from({ length: Math.min(100, connections) }, () => net.connect(port, '127.0.0.1'))
    await Promise.all(some.map((each) => once(each, 'connect')))
    sockets.push(...some)
  }

  const begin = performance.now()
  const end = begin + seconds * 1000
  const interval = (connections / rate) * 1000
  await Promise.all(sockets.map((socket, index) => ask(socket, begin + (interval * index) / connections)))
  console.log(JSON.stringify(outcome))
  process.exit()

  /** Sends requests on a connection until the end. @param due when the first one is */
  async function ask(socket: net.Socket, due: number): Promise<void> {
    for (; due < end; due += interval) {
      const now = performance.now()
      if (due > now) await delay(due - now)
      else due = now
      const sent = performance.now()
      const what = kindOf(await answerOn(socket), performance.now() - sent)
      if (performance.now() > end) return
      outcome[what] += 1
      if (socket.destroyed) return
    }
  }

  function kindOf(answer: string, milliseconds: number): keyof Outcome {
    if (answer.startsWith('HTTP/1.1 200 ')) return milliseconds < 1000 ? 'good' : 'late'
    return /^HTTP\/1.1 503 [^]*^retry-after: 1\r$/im.test(answer) ? 'refused' : 'other'
  }

  /** Sends a request. @returns the whole answer, or what came of it when the connection was closed */
  function answerOn(socket: net.Socket): Promise<string> {
    if (socket.destroyed) return Promise.resolve('')
    const { promise, resolve } = Promise.withResolvers<string>()
    let text = ''
    const close = () => resolve('')
    const read = (chunk: Buffer) => {
      text += chunk.toString('latin1')
      const head = text.indexOf('\r\n\r\n')
      const [, length] = /^content-length: (\d+)/im.exec(text) ?? []
      if (head !== -1 && text.length === head + 4 + Number(length)) resolve(text)
    }
    socket.removeAllListeners().on('data', read).on('error', close).on('close', close)
    id.writeUInt32BE(Math.random() * plants, 4)
    socket.write(`GET /plants?limit=200&cursor=${id.toString('base64url')} ${head}`)
    return promise
  }
}
