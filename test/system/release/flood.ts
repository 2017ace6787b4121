// A flood of requests, as a process: node flood.ts <port> <plants> <connections> <requests a second> <seconds>
// Each asks for 200 plants after a random id below the number of plants: hardly ever a page of the last requests.
import { run } from '../../bench/load.ts'

/** The results of the requests: answered 200 within a second, or after it; 503; unexpected: otherwise, or not at all. */
export type Outcome = Record<'good' | 'late' | 'refused' | 'unexpected', number>

const [port = 0, plants = 0, connections = 0, rate = 0, seconds = 0] = process.argv
  .slice(2)
  .map(Number)
const head = `HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer ${process.env['TOKEN'] ?? ''}\r\n\r\n`
const id = Buffer.alloc(8)
let end = Infinity
const next = () => {
  end = Math.min(end, performance.now() + seconds * 1000)
  id.writeUInt32BE(Math.random() * plants, 4)
  return `GET /plants?limit=200&cursor=${id.toString('base64url')} ${head}`
}
const outcome: Outcome = { good: 0, late: 0, refused: 0, unexpected: 0 }
await run({ port, connections, seconds, next, rate }, ({ status, time }) => {
  if (performance.now() > end) return
  if (status === 200) outcome[time < 1000 ? 'good' : 'late'] += 1
  else outcome[status === 503 ? 'refused' : 'unexpected'] += 1
})
console.log(JSON.stringify(outcome))
process.exit()
