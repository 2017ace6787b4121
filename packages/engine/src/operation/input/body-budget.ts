// The memory that bodies take. deploy/README.md adds it to the other memory of the service.
import { Budget } from '../../http/budget.ts'
import type { Exchange } from '../../http/exchange.ts'
import { TOO_LONG } from './strings/parsing.ts'

/** The most bytes of all bodies together that are under way: a slow client holds the length that it has announced. */
const MAX_UNDER_WAY = 64 * 1024 * 1024
/** The most bytes of memory of all parsed bodies together, until their methods have answered. */
const MAX_PARSED = 128 * 1024 * 1024
/** The bytes that a stream of bytes holds: the buffer of the connection, and the piece that a method reads. */
const MAX_STREAM = 128 * 1024
/**
 * The most bytes of memory that a byte of JSON takes when it is parsed. In objects such as `{"a1":0},`, no two of them with
 * the same name, it takes 25.
 */
const JSON_FACTOR = 26
/** The most bytes of memory that a byte of another string takes, with the string itself. */
const STRING_FACTOR = 3

const underWay = new Budget(MAX_UNDER_WAY)
const parsed = new Budget(MAX_PARSED)

/**
 * Makes room for a body, before it is read.
 * @param length in bytes: of the body, or the most that it may have
 * @param isStream whether a method reads it piece by piece
 * @throws {HttpError} 503 if the bodies of others take all room, 400 if the client has left
 */
export function reserveBody(exchange: Exchange, length: number, isStream: boolean): void {
  const bytes = isStream ? Math.min(length, MAX_STREAM) : length
  underWay.take(exchange, bytes)
}

/** Gives back the room of a stream of bytes that was read to its end. */
export function releaseBody(exchange: Exchange): void {
  underWay.giveBack(exchange)
}

/**
 * Makes room for the value of a body that was read, in place of the room of its bytes.
 * @param length of the body in bytes
 * @throws {HttpError} 503 if the bodies of others take all room, 400 if the client has left
 */
export function reserveValue(exchange: Exchange, length: number, isJson: boolean): void {
  const factor = isJson ? JSON_FACTOR : STRING_FACTOR
  const bytes = length * factor
  parsed.takeInPlaceOf(underWay, exchange, bytes)
}

/** Gives back the room of a value that its method needs no more. */
export function releaseValue(exchange: Exchange): void {
  parsed.giveBack(exchange)
}

/**
 * Makes room for the evaluation of a value by its schema. It ends before any other request goes on, so nothing stays taken.
 * @param bytes that the evaluation holds by now, beside the value
 * @throws {HttpError} 503 if the bodies of others take all room, 413 if the room for all would not suffice
 */
export function reserveEvaluation(exchange: Exchange, bytes: number): void {
  if (bytes > MAX_PARSED) throw TOO_LONG
  parsed.checkRoom(exchange, bytes)
}
