import { Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import type pg from 'pg'
const SNAPSHOT_IDLE_TIMEOUT = 0
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
  { kind, timeout, isRunning }: ConnectionOptions,
): Promise<void> {
  const { stream } = client.connection
  if (stream instanceof Socket) stream.unref() // let this process end
  const interval = POLL_INTERVAL * timeout
  const latest = delay(backend ? interval : UNKNOWN_TIMEOUT * timeout, false, { ref: false })
  const isClosed = await Promise.race([client.end().then(() => true), latest])
  stream.destroy()
  if (backend === undefined || (isClosed && !wasWriting)) return
  // The network may have lost the answer. If nobody can ask, the server has ended a read by then. A write may wait for ever.
  const idle = SERVER_IDLE_TIMEOUT * timeout + (kind === 'snapshots' ? SNAPSHOT_IDLE_TIMEOUT : 0)
  const end = kind === 'writes' ? Infinity : performance.now() + idle + 2 * timeout
  while (await isRunning(backend).catch(() => performance.now() < end)) await delay(interval, undefined, { ref: false })
}
