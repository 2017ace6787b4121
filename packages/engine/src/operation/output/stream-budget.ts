// Bounds the open streams of events of a caller: each keeps a connection for as long as the client likes.
import type { Operation } from '../../contract/compiled.ts'
import { Shares } from '../../http/budget.ts'
import type { Exchange } from '../../http/exchange.ts'
import { HttpError } from '../../errors.ts'

/** The most open streams of events of one caller. */
export const MAX_STREAMS = 64
/**
 * If few connections are allowed, a caller gets at most this part of them. Without credentials, an
 * address gets it.
 */
const PART_OF_CONNECTIONS = 0.25

const streams = new Shares()

/** Whether the only answers of an operation are streams of events, but for errors. */
export function hasOnlyStreams({ responses }: Pick<Operation, 'responses'>): boolean {
  const successes = Object.entries(responses).filter(([status]) => status.startsWith('2'))
  const media = successes.map(([, response]) => Object.values(response))
  return media.length > 0 && media.every((of) => of.length > 0 && of.every(({ events }) => events))
}

/**
 * Counts a stream of events, until its response is closed.
 * @throws {HttpError} 503 if its caller has too many open
 */
export function reserveStream(exchange: Exchange): void {
  assertStream(exchange)
  streams.take(exchange, 1)
}

/** @throws {HttpError} 503 if the caller has too many streams open for another one */
export function assertStream({ caller, client, request }: Exchange): void {
  const { server } = request.server
  const ofConnections = Math.ceil(server.maxConnections * PART_OF_CONNECTIONS)
  const max = caller === '' ? ofConnections : Math.min(MAX_STREAMS, ofConnections)
  if (streams.of(client) >= max) throw tooManyStreams(max)
}

function tooManyStreams(max: number): HttpError {
  const message = `There are ${max} open streams of events, and you may have no more: close one of them first`
  return new HttpError(503, message, { 'retry-after': '1' })
}
