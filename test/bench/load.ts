import net from 'node:net'

/** Stands in a request for an id, or for a token of many: another one in each request. All ids have as many digits. */
export const ID = '##########'
export const FIRST_ID = 1_000_000_000

/** One request, to be made again and again for some time; each connection waits for its answer. */
export interface Load {
  readonly port: number
  readonly connections: number
  readonly seconds: number
  /** The most requests. */
  readonly most: number
  readonly method: 'GET' | 'POST' | 'DELETE'
  readonly path: string
  readonly body?: string
  /** The token of a caller, or those of many, who take turns. */
  readonly tokens: readonly string[]
  /** The first id. It also says which token is the first one. */
  readonly first: number
  /** The status and the bytes of the body that each answer is to have. */
  readonly status: number
  readonly length: number
}

/** How it went. Times are in milliseconds. */
export interface Loaded {
  /** How many answers were as they are to be, and how many were not or did not come. */
  readonly right: number
  readonly wrong: number
  readonly seconds: number
  readonly p50: number
  readonly p99: number
}

/** Milliseconds after which no answer comes any more. */
const HANGS = 10_000

/** Puts a load on a server. It reads only as much of the answers as it must, to take little of the processor. */
export async function run(load: Load): Promise<Loaded> {
  const { connections, seconds, most } = load
  const nextRequest = requestsOf(load)
  const times: number[] = []
  let [sent, wrong] = [0, 0]
  const start = performance.now()
  const live = async () => {
    const socket = net.connect({ port: load.port, host: '127.0.0.1', noDelay: true })
    socket.setTimeout(HANGS, () => socket.destroy()).on('error', () => undefined) // it is closed then
    while (sent < most && performance.now() < start + seconds * 1000) {
      sent += 1
      const at = performance.now()
      socket.write(nextRequest(), 'latin1')
      if (await isAnswered(socket, load)) times.push(performance.now() - at)
      else wrong += 1
      if (socket.destroyed) break
    }
    socket.destroy()
  }
  await Promise.all(Array.from({ length: connections }, live))
  const elapsed = (performance.now() - start) / 1000
  times.sort((one, two) => one - two)
  const [p50 = NaN, p99 = NaN] = [0.5, 0.99].map((share) => times[Math.floor(times.length * share)])
  return { right: times.length, wrong, seconds: elapsed, p50, p99 }
}

/** Makes the text of each request. */
function requestsOf({ method, path, tokens, body, first }: Load): () => string {
  const token = tokens.length === 1 ? tokens[0] : ID
  const lines = [`${method} ${path} HTTP/1.1`, 'Host: 127.0.0.1', `Authorization: Bearer ${token}`]
  if (body !== undefined) lines.push('Content-Type: application/json', `Content-Length: ${body.length}`)
  const [before = '', after] = `${lines.join('\r\n')}\r\n\r\n${body ?? ''}`.split(ID)
  if (after === undefined) return () => before
  let next = first
  return () => {
    const item = token === ID ? tokens[next % tokens.length] : next
    next += 1
    return `${before}${item}${after}`
  }
}

/** Reads the answer to a request. @returns whether it has the status and the length that it is to have */
async function isAnswered(socket: net.Socket, { status, length }: Load): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  let [bytes, whole, isRight, tail] = [0, Infinity, false, '']
  const read = (chunk: Buffer) => {
    if (bytes === 0) {
      const head = chunk.toString('latin1', 0, 2000)
      const declared = lengthIn(head)
      whole = head.indexOf('\r\n\r\n') + 4 + declared
      isRight = head.startsWith(`HTTP/1.1 ${status} `) && [length, Infinity].includes(declared)
    }
    bytes += chunk.length
    tail = (tail + chunk.toString('latin1', Math.max(0, chunk.length - 5))).slice(-5)
    if (whole === Infinity ? tail === '0\r\n\r\n' : bytes >= whole) resolve(isRight && bytes >= length)
  }
  const end = () => resolve(false)
  socket.on('data', read).on('close', end)
  return promise.finally(() => socket.off('data', read).off('close', end))
}

/** The length of a body, by the head of its answer; Infinity if it is in chunks, the last one of which is empty. */
function lengthIn(head: string): number {
  if (head.startsWith('HTTP/1.1 204 ')) return 0
  const [, length = Infinity] = /\r\ncontent-length: (\d+)/i.exec(head) ?? []
  return Number(length)
}
