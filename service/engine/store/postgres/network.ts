import { once } from 'node:events'
import net from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import type { Session } from './session.ts'

/** Milliseconds between two probes, while a connection is silent for longer. */
const PROBE_INTERVAL = 250
const AWAY = 1000 // milliseconds without an answer to a probe after which the network is away
const GRACE = 150 // milliseconds in which late answers arrive when it is there again
/** Asks whether the server has TLS: https://www.postgresql.org/docs/current/protocol-message-formats.html */
const SSL_REQUEST = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47])

/**
 * Watches the network from now on. Closes sessions whose answers it may have lost: those that were silent while it was away,
 * and still are when it is there again; and those that are silent for longer than a limit though it is there.
 * @param limitOf milliseconds for a session
 */
export function watchNetwork(
  sessions: ReadonlySet<Session>,
  limitOf: (session: Session) => number,
): NodeJS.Timeout {
  let answered = performance.now()
  let last = answered
  const probe = async () => {
    const now = performance.now()
    if (now - last > 2 * PROBE_INTERVAL) answered = now // this process did not run: it does not know
    last = now
    const silent = [...sessions].find((session) => session.isSilentSince(now - PROBE_INTERVAL))
    if (silent !== undefined && !(await isAnswering(silent))) return
    const back = performance.now()
    if (back - now > AWAY) return // as above
    const wasAway = back - answered > AWAY
    answered = back
    if (silent === undefined) return
    await delay(GRACE, undefined, { ref: false })
    for (const session of sessions) {
      if (session.isSilentSince(wasAway ? back : back - limitOf(session))) session.close()
    }
  }
  return setInterval(() => void probe(), PROBE_INTERVAL).unref()
}

/** Whether the server of a session answers on a new connection. It does not count as a session. */
async function isAnswering({ host, port }: Session): Promise<boolean> {
  const socket = host.startsWith('/')
    ? net.connect(`${host}/.s.PGSQL.${port}`)
    : net.connect(port, host)
  socket.unref().write(SSL_REQUEST)
  const answer = await once(socket, 'data', { signal: AbortSignal.timeout(AWAY) }).catch(
    () => undefined,
  )
  socket.on('error', () => undefined).destroy()
  return answer !== undefined
}
