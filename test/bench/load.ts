// Requests over many connections, each of which waits for the answer to one before it sends the next.
import { once } from 'node:events'
import net from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'

interface Load extends Readonly<Record<'port' | 'connections' | 'seconds', number>> {
  /** Makes the bytes of each request; undefined when there are no more. */
  readonly next: () => string | undefined
  /** Requests in a second, on all connections together. Without it, each answer is followed by a request at once. */
  readonly rate?: number
}

/** The status is 0 without a whole answer. The length of a chunked body includes the sizes of its chunks. */
type Answer = Readonly<Record<'status' | 'length', number>>

/** Milliseconds after which no answer comes any more. */
const HANGS = 10_000

/** Puts a load on a server, and calls `take` with each answer and its milliseconds. @returns how many it took in all */
export async function run(
  { port, connections, seconds, next, rate = Infinity }: Load,
  take: (answer: Answer & { readonly time: number }) => void,
): Promise<number> {
  const sockets: net.Socket[] = []
  while (sockets.length < connections) {
    const socket = net.connect({ port, host: '127.0.0.1', noDelay: true })
    socket.setTimeout(HANGS, () => socket.destroy()).on('error', () => undefined) // it is closed then
    await once(socket, 'connect')
    sockets.push(socket)
  }
  const begin = performance.now()
  const end = begin + seconds * 1000
  const interval = (connections / rate) * 1000
  const live = async (socket: net.Socket, index: number) => {
    for (
      let due = begin + (interval * index) / connections;
      due < end && !socket.destroyed;
      due += interval
    ) {
      if (due > performance.now()) await delay(due - performance.now())
      const sent = performance.now()
      due = Math.max(due, sent)
      const request = due < end ? next() : undefined
      if (request === undefined) break
      socket.write(request, 'latin1')
      const answer = await answerOn(socket)
      take({ ...answer, time: performance.now() - sent })
    }
    socket.destroy()
  }
  await Promise.all(sockets.map(live))
  return performance.now() - begin
}

/** Reads an answer, only as much of it as it must, to take little of the processor. */
async function answerOn(socket: net.Socket): Promise<Answer> {
  const { promise, resolve } = Promise.withResolvers<Answer>()
  let [bytes, body, whole, status, tail] = [0, 0, Infinity, 0, '']
  const read = (chunk: Buffer) => {
    if (bytes === 0) {
      const head = chunk.toString('latin1', 0, 2000)
      status = Number(head.slice(9, 12))
      body = head.indexOf('\r\n\r\n') + 4
      // A body without a length is in chunks, the last one of which is empty.
      const [, length = Infinity] = /\r\ncontent-length: (\d+)/i.exec(head) ?? []
      whole = status === 204 ? body : body + Number(length)
    }
    bytes += chunk.length
    tail = (tail + chunk.toString('latin1', Math.max(0, chunk.length - 5))).slice(-5)
    if (whole === Infinity ? tail === '0\r\n\r\n' : bytes >= whole)
      resolve({ status, length: bytes - body })
  }
  const end = () => resolve({ status: 0, length: 0 })
  if (socket.destroyed) end()
  socket.on('data', read).on('close', end)
  return promise.finally(() => socket.off('data', read).off('close', end))
}
