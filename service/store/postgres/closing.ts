import { Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import type pg from 'pg'
import { SNAPSHOT_IDLE_TIMEOUT } from '../lists.ts'
import { type Backend, type ConnectionOptions, SERVER_IDLE_TIMEOUT } from './session.ts'

/** Multiples of `timeout` after which a connection that was given up is forgotten, if its server process is unknown. */
const UNKNOWN_TIMEOUT = 100
/** The part of `timeout` between two checks whether the server still has a connection. */
const POLL_INTERVAL = 1 / 3

/**
 * Closes a connection when the server has answered everything that was sent, and waits until the server has let go of it.
 * @param backend absent behind a pooler
 * @param wasWriting A server process that waits for a standby does not notice that its client has gone.
 */
export async function waitUntilGone(
  client: pg.Client,
  backend: Backend | undefined,
  wasWriting: boolean,
  { kind, timeout, askState }: ConnectionOptions,
): Promise<void> {
  const { stream } = client.connection
  const latest =
    performance.now() + lostTimeout(backend, kind) * timeout + (kind === 'snapshots' ? SNAPSHOT_IDLE_TIMEOUT : 0)
  if (stream instanceof Socket) stream.unref() // let this process end
  let closed = client.end().then(() => true)
  for (;;) {
    const isClosed = await Promise.race([closed, delay(POLL_INTERVAL * timeout, false, { ref: false })])
    if (isClosed && (backend === undefined || !wasWriting)) break
    // The network may have lost the answer.
    const state = backend === undefined ? 'unknown' : await askState(backend).catch(() => 'unknown')
    if (state === undefined || (state === 'unknown' && performance.now() > latest)) break
    if (backend === undefined || (wasWriting && state !== 'idle' && !isClosed)) continue
    closed = new Promise(() => undefined) // from now on only `askState` tells
    stream.destroy()
  }
  stream.destroy()
}

/**
 * Multiples of `timeout` after which a connection is forgotten if nobody can ask the server about it. By then the server has
 * ended a read. A write may wait for ever, but a connection for reads can then ask about it.
 */
function lostTimeout(backend: Backend | undefined, kind: ConnectionOptions['kind']): number {
  if (backend === undefined) return UNKNOWN_TIMEOUT
  return kind === 'writes' ? Infinity : SERVER_IDLE_TIMEOUT + 2
}
