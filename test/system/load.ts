// Clients who know what each answer must be, as a process of its own: TOKENS=… node load.ts <port> <requests> <a second>
// Each has a token, a connection that is kept, and a caller's plants to itself. No request is repeated.
import http from 'node:http'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'

/** What became of the requests. */
export interface Answers {
  right: number
  /** Those that were answered otherwise, or not at all. */
  readonly wrong: string[]
  /** The longest time to an answer, in milliseconds. */
  longest: number
}

if (import.meta.main) {
  const [port = 0, requests = 0, rate = 1] = process.argv.slice(2).map(Number)
  const tokens = (process.env['TOKENS'] ?? '').split(',')
  const answers: Answers = { right: 0, wrong: [], longest: 0 }
  let begun = 0
  const start = performance.now()
  await Promise.all(tokens.map(live))
  console.log(JSON.stringify(answers))

  /** A client: adds a plant, twice, lists it, deletes it, and lists none; and so on with another id. */
  async function live(token: string): Promise<void> {
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
    for (let id = 1; begun < requests; id++) {
      const plant = `{"name":"plant ${id}"}`
      const body = JSON.stringify({ id, name: `plant ${id}` })
      await ask('POST', '/plants', body, 200, plant)
      await ask('GET', '/plants?limit=5', '', 200, `[${plant}]`)
      await ask('POST', '/plants', body, 200, plant)
      await ask('DELETE', `/plants/${id}`, '', 204, '')
      await ask('GET', '/plants', '', 200, '[]')
    }
    agent.destroy()

    async function ask(method: string, path: string, body: string, status: number, expected: string): Promise<void> {
      const due = start + (begun++ / rate) * 1000
      await delay(Math.max(0, due - performance.now()))
      const sent = performance.now()
      const answer = await exchange(method, path, body).catch(String)
      answers.longest = Math.max(answers.longest, performance.now() - sent)
      if (answer === `${status} ${expected}`) answers.right += 1
      else answers.wrong.push(`${Math.round(sent - start)} ms: ${method} ${path}: ${answer}`)
    }

    async function exchange(method: string, path: string, body: string): Promise<string> {
      const headers = { Authorization: `Bearer ${token}`, ...(body !== '' && { 'Content-Type': 'application/json' }) }
      const request = http.request({ agent, port, host: '127.0.0.1', method, path, headers }).end(body)
      const [response] = (await once(request, 'response')) as [http.IncomingMessage]
      return `${response.statusCode} ${await text(response)}`
    }
  }
}
