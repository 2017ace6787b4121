// The memory that bodies take. deploy/README.md adds it to what else the service may hold.
import type { FastifyReply } from 'fastify'
import { Budget } from '../http/budget.ts'

/** Bytes of all bodies together that are under way: a slow client holds what it has announced. */
const MAX_UNDER_WAY = 64 * 1024 * 1024
/** Bytes of memory of all bodies together that are parsed, while their requests are answered. */
const MAX_PARSED = 128 * 1024 * 1024
/** What a stream that a method reads piece by piece holds: what has arrived, and what it reads. */
const MAX_STREAM = 128 * 1024
/**
 * The most memory that a byte takes when it is parsed. Of objects such as `{"a1":0},`, no two of them
 * with the same name, it is 25 bytes; of a text 3, with the text itself.
 */
const [JSON_FACTOR, TEXT_FACTOR] = [26, 3]

const underWay = new Budget(MAX_UNDER_WAY)
const parsed = new Budget(MAX_PARSED)

/**
 * Makes room for a body, before it is read.
 * @param length that it has, or may have
 * @param isStream whether a method reads it piece by piece
 * @throws {HttpError} 503 if the bodies of others take all room
 */
export function reserveBody(reply: FastifyReply, length: number, isStream: boolean): void {
  const bytes = isStream ? Math.min(length, MAX_STREAM) : length
  underWay.take(reply.raw, reply.request.caller, bytes)
}

/**
 * Makes room for what a body is parsed to.
 * @param length of the body, in bytes
 * @throws {HttpError} 503 if the bodies of others take all room
 */
export function reserveValue(reply: FastifyReply, length: number, isJson: boolean): void {
  const bytes = length * (isJson ? JSON_FACTOR : TEXT_FACTOR)
  parsed.take(reply.raw, reply.request.caller, bytes)
}
