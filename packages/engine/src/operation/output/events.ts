// Sends server-sent events (WHATWG HTML, section 9.2), one after the other.
import type { ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { isObject } from '@plant-store/json-schema'
import type { Exchange } from '../../http/exchange.ts'

/** Characters which end a field too early, or which clients ignore: a line break and NUL. */
const UNSENDABLE = /[\r\n\0]/
const LINE_BREAK = /\r\n|\r|\n/
/** A comment: clients and gateways see a living connection. */
const COMMENT = ':\n\n'

interface EventSource {
  readonly events: AsyncIterator<unknown>
  /** Writes the data of an event. @throws {Error} for data refused by the contract */
  readonly write: (data: unknown) => string
  readonly exchange: Exchange
}

/** Lets a method end its work. It may do so later, or never, if it waits for an event: nothing waits for it. */
export function returnEvents(events: AsyncIterator<unknown>, exchange: Exchange): void {
  const { id, request } = exchange
  const returned = Promise.try(async () => events.return?.())
  returned.catch((err: unknown) => request.log.error({ reqId: id, err }, 'events not ended'))
}

/**
 * A stream of events. It asks for an event when the system has taken the one before, so it never
 * keeps more than one. When it closes, for whatever reason, it calls `return` of the iterator.
 */
export class EventStream extends Readable {
  readonly #events: AsyncIterator<unknown>
  readonly #write: EventSource['write']
  readonly #exchange: Exchange
  #comments: NodeJS.Timeout | undefined
  #isOver = false

  constructor({ events, write, exchange }: EventSource) {
    super({ highWaterMark: 0 })
    this.#events = events
    this.#write = write
    this.#exchange = exchange
  }

  /**
   * Ends the stream with the present event. The client comes back with the id of its last event.
   */
  finish(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.push(null)
    returnEvents(this.#events, this.#exchange)
  }

  override _construct(callback: () => void): void {
    const { request, response } = this.#exchange
    request.server.exchanges.openStream(this.#exchange, () => this.finish())
    this.#comments = sendComments(response)
    callback()
  }

  override _read(): void {
    if (this.#isOver) return
    this.#sendNext().catch((error: unknown) => this.destroy(error as Error))
  }

  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    clearInterval(this.#comments)
    if (!this.#isOver) returnEvents(this.#events, this.#exchange)
    this.#isOver = true
    callback(error)
  }

  async #sendNext(): Promise<void> {
    const { response } = this.#exchange
    response.flushHeaders() // a client waits for them, and the first event may be far
    if (!(await isTaken(response))) return
    const next: IteratorResult<unknown, unknown> = await this.#events.next()
    if (this.#isOver) return
    if (next.done) {
      this.#isOver = true
      this.push(null)
      return
    }
    const text = writeEvent(next.value, this.#write)
    this.#exchange.answeredSince = performance.now()
    this.push(text)
  }
}

/** Writes an event. @throws {Error} for one which can't be sent as it is */
function writeEvent(event: unknown, write: (data: unknown) => string): string {
  if (!isObject(event)) throw new Error('an event must be an object with data')
  const { id, event: type, retry, data } = event
  const lines = [...field('id', id), ...field('event', type), ...retryField(retry)]
  for (const line of write(data).split(LINE_BREAK)) lines.push(`data: ${line}`)
  return `${lines.join('\n')}\n\n`
}

function field(name: string, value: unknown): string[] {
  if (value === undefined) return []
  if (typeof value !== 'string' || UNSENDABLE.test(value))
    throw new Error(`the ${name} of an event must be a string without line breaks and NUL`)
  return [`${name}: ${value}`]
}

/** Clients ignore a time other than an integer. */
function retryField(time: unknown): string[] {
  if (time === undefined) return []
  if (typeof time !== 'number' || !Number.isSafeInteger(time) || time < 0)
    throw new Error('the retry of an event must be an integer of milliseconds')
  return [`retry: ${time}`]
}

/** Waits until the system has taken the bytes written to a response. @returns false if its connection is closed */
async function isTaken(response: ServerResponse): Promise<boolean> {
  const { socket } = response
  if (socket === null || response.writableLength === 0) return !response.destroyed
  return new Promise((resolve) => socket.write('', (error) => resolve(!error)))
}

/**
 * Sends comments while there are no events: without them, the connection would seem to stall. While a client takes nothing,
 * nothing is written, and the connection is closed for stalling.
 */
function sendComments(response: ServerResponse): NodeJS.Timeout | undefined {
  const timeout = response.socket?.timeout
  if (!timeout) return undefined
  const sendComment = () => {
    if (response.headersSent && response.writableLength === 0) response.write(COMMENT)
  }
  return setInterval(sendComment, timeout / 2)
}
