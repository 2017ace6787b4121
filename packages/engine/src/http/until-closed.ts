import type { ServerResponse } from 'node:http'

/**
 * Gives back what was taken for a request, however the request ends: once, when its response closes. If the response has
 * closed by then, it is given back at once: no further `close` would come.
 * @returns a function that gives it back earlier
 */
export function untilClosed(response: ServerResponse, giveBack: () => void): () => void {
  let isTaken = true
  const end = () => {
    if (!isTaken) return
    isTaken = false
    response.off('close', end)
    giveBack()
  }
  if (response.closed) end()
  else response.on('close', end)
  return end
}
