// The memory that answers take. deploy/README.md adds it to the other memory of the service.
import type { FastifyReply } from 'fastify'
import { clientOf, Parts } from '../../http/budget.ts'
import { breakOff } from '../../http/open-requests.ts'
import { untilClosed } from '../../http/until-closed.ts'

/** The most bytes of all answers together that were sent whole, and that their clients have not taken. */
const MAX_UNTAKEN = 64 * 1024 * 1024

/** The untaken answers of each client, the oldest first, each with a function that ends its count. */
const untaken = new Map<string, Map<FastifyReply, () => void>>()
/** The bytes of these answers. */
const bytes = new Parts()

/**
 * Counts an answer that was sent whole, until its client has taken it. Beyond the bound the oldest answers of the client that
 * has most are broken off: nobody loses an answer to what others leave untaken. The newest answer of all stays, because its
 * client had no time to take it.
 */
export function countAnswer(reply: FastifyReply): void {
  const { closed, writableLength } = reply.raw
  if (closed || writableLength === 0) return // the system has taken it, as it takes most
  addAnswer(reply)
  while (bytes.total > MAX_UNTAKEN) {
    const [oldest, endCount] = oldestOfMost()
    if (oldest === undefined || oldest === reply) return
    endCount?.()
    const { raw, log, request } = oldest
    breakOff(raw, log, request.id, 'answers that are not taken need its memory')
  }
}

function addAnswer(reply: FastifyReply): void {
  const length = Number(reply.getHeader('content-length')) || 0 // NaN would end the count for good
  const client = clientOf(reply.request)
  const answers = untaken.get(client) ?? new Map<FastifyReply, () => void>()
  untaken.set(client, answers)
  bytes.add(client, length)
  const endCount = untilClosed(reply.raw, () => {
    bytes.add(client, -length)
    answers.delete(reply)
    if (answers.size === 0) untaken.delete(client)
  })
  answers.set(reply, endCount)
}

/** The oldest answer of the client that has most, with the function that ends its count. */
function oldestOfMost(): readonly [answer?: FastifyReply, endCount?: () => void] {
  let most = -1
  let ofMost: ReadonlyMap<FastifyReply, () => void> | undefined
  for (const [client, answers] of untaken) {
    if (bytes.of(client) <= most) continue
    most = bytes.of(client)
    ofMost = answers
  }
  const [oldest] = ofMost ?? []
  return oldest ?? []
}
