// The memory that answers take. deploy/README.md adds it to the other memory of the service.
import type { FastifyReply } from 'fastify'
import { breakOff } from '../http/open-requests.ts'

/** The most bytes of all answers together that were sent whole, and that their clients have not taken. */
const MAX_UNTAKEN = 64 * 1024 * 1024

/** Their lengths, the oldest first. */
const untaken = new Map<FastifyReply, number>()
let total = 0

/**
 * Counts an answer that was sent whole, until its client has taken it. Beyond the bound the oldest ones
 * are broken off: a client that reads has taken its answer by then.
 */
export function countAnswer(reply: FastifyReply): void {
  if (reply.raw.writableLength === 0) return // the system has taken it, as it takes most
  const length = Number(reply.getHeader('content-length')) || 0 // NaN would end the count for good
  untaken.set(reply, length)
  total += length
  reply.raw.once('close', () => release(reply))
  for (const oldest of untaken.keys()) {
    if (total <= MAX_UNTAKEN || oldest === reply) return
    release(oldest)
    const { raw, log, request } = oldest
    breakOff(raw, log, request.id, 'answers that are not taken need its memory')
  }
}

function release(reply: FastifyReply): void {
  total -= untaken.get(reply) ?? 0
  untaken.delete(reply)
}
