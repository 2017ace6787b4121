// Requests leave little garbage: if it survives V8's fast collections, each of them lasts 20 ms
// instead of 1 ms.
import http from 'node:http'
import { once } from 'node:events'
import { Session } from 'node:inspector/promises'
import { text } from 'node:stream/consumers'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import t from 'tap'
import { build } from '../../../../test/support/servers/start-product.ts'

/** Requests sent at the same time. */
const AT_ONCE = 32
const BURSTS = 400

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as (options: { type: 'minor' }) => void

t.test('ended requests are gone at the next collection of young objects', async (t) => {
  const { port, token } = await build(t)
  const agent = new http.Agent({ keepAlive: true, maxSockets: AT_ONCE })
  t.teardown(() => agent.destroy())
  const headers = { Authorization: `Bearer ${await token('joe')}` }
  const ask = async () => {
    const answered = once(http.get({ agent, port, path: '/plants', headers }), 'response')
    return text(((await answered) as [http.IncomingMessage])[0])
  }
  const burst = () => Promise.all(Array.from({ length: AT_ONCE }, ask))
  for (let count = 0; count < 20; count++) await burst()

  const inspector = new Session()
  inspector.connect()
  const measure = async () => {
    // These options leave only objects alive until a full collection.
    const options = { samplingInterval: 1024, includeObjectsCollectedByMajorGC: true }
    await inspector.post('HeapProfiler.startSampling', options)
    for (let count = 0; count < BURSTS; count++) {
      await burst()
      if (count % 20 === 0) collect({ type: 'minor' })
    }
    const { profile } = await inspector.post('HeapProfiler.stopSampling')
    // In this process, only Node's server makes responses.
    const sizeOf = ({ callFrame, selfSize, children }: typeof profile.head): number =>
      children.reduce(
        (sum, part) => sum + sizeOf(part),
        callFrame.url === 'node:_http_server' ? selfSize : 0,
      )
    return Math.round(sizeOf(profile.head) / (BURSTS * AT_ONCE))
  }
  // On a busy machine V8 collects at other moments. Memory held by the service shows each time.
  const bytes = [await measure()]
  while (bytes.length < 5 && Math.min(...bytes) >= 250) bytes.push(await measure())
  t.ok(Math.min(...bytes) < 250, `${bytes.join()} bytes of each response were still there`)
})
