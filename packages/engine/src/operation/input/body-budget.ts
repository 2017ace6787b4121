// The memory that bodies take. deploy/README.md adds it to the other memory of the service.
import type { FastifyReply } from 'fastify'
import { Budget } from '../../http/budget.ts'
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
/** The most bytes of memory that a byte of a text takes, with the text itself. */
const TEXT_FACTOR = 3

const underWay = new Budget(MAX_UNDER_WAY)
const parsed = new Budget(MAX_PARSED)

/**
 * Makes room for a body, before it is read, until it is read.
 * @param length in bytes: of the body, or the most that it may have
 * @param isStream whether a method reads it piece by piece
 * @throws {HttpError} 503 if the bodies of others take all room, 400 if the client has left
 */
export function reserveBody(reply: FastifyReply, length: number, isStream: boolean): void {
  const bytes = isStream ? Math.min(length, MAX_STREAM) : length
  underWay.take(reply, bytes)
}

/** Gives back the room of a body that was read. */
export function releaseBody(reply: FastifyReply): void {
  underWay.giveBack(reply)
}

/**
 * Makes room for the parsed value of a body, until its method has answered.
 * @param length the length of the body in bytes
 * @throws {HttpError} 503 if the bodies of others take all room, 400 if the client has left
 */
export function reserveValue(reply: FastifyReply, length: number, isJson: boolean): void {
  const factor = isJson ? JSON_FACTOR : TEXT_FACTOR
  const bytes = length * factor
  parsed.take(reply, bytes)
}

/** Gives back the room of a value that its method has no more use for. */
export function releaseValue(reply: FastifyReply): void {
  parsed.giveBack(reply)
}

/**
 * Makes room for the evaluation of a value by its schema. It ends before any other request goes on, so nothing stays taken.
 * @param bytes that the evaluation holds by now, beside the value
 * @throws {HttpError} 503 if the bodies of others take all room, 413 if the room for all would not suffice
 */
export function reserveEvaluation(reply: FastifyReply, bytes: number): void {
  if (bytes > MAX_PARSED) throw TOO_LONG
  parsed.checkRoom(reply, bytes)
}
