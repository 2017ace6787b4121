// `node writers.ts <port> <token>`: clients that create plants in a closed loop, a quarter of them on kept connections. It
// prints "writing" after some answers, and goes on until it is ended, also while it is refused; for a minute at most.
import http from 'node:http'

const [port, token] = process.argv.slice(2)
const CLIENTS = 128
const kept = new http.Agent({ keepAlive: true })
setTimeout(() => process.exit(), 60_000)
let id = 0
let answers = 0

/** Sends one request. Resolves when it is over, however it ends. */
function create(agent: http.Agent | false): Promise<void> {
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' }
  return new Promise((resolve) => {
    const request = http.request({ port, host: '127.0.0.1', path: '/plants', method: 'POST', headers, agent })
    request.on('response', (response) => {
      if ((answers += 1) === 4 * CLIENTS) console.log('writing')
      response.resume().on('error', () => undefined)
    })
    request.on('error', () => undefined).on('close', resolve)
    request.end(JSON.stringify({ id: (id += 1), name: 'x' }))
  })
}

async function write(agent: http.Agent | false): Promise<never> {
  for (;;) await create(agent)
}

await Promise.all(Array.from({ length: CLIENTS }, (_, each) => write(each % 4 === 0 && kept)))
