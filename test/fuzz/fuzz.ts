// npm run fuzz [-- --seed <number>] [-- --inputs <number>]: the same seed makes the same inputs.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { parseArgs } from 'node:util'
import fc from 'fast-check'
import { startService } from '../support/processes/programs.ts'
import { exchange, readResponses } from '../support/inner/responses.ts'
import { issueTokenIn } from '../support/servers/access-tokens.ts'
import { checkJson, json } from './json.ts'
import { asked, checkParameters } from './parameters.ts'
import { checkRequests, requestsTo } from './requests.ts'

/** How many paths and queries go over one connection, and on how many at a time: more would be shed. */
const AT_ONCE = 50
const CONNECTIONS = 4

/** Fails on the first wrong answer, and names its input. @returns the number of inputs */
type Fuzz = (inputs: number, seed: number) => Promise<number>

/** Starts a service to fuzz, on a new file. @returns it, as a target for a caller without plants and one with some */
export async function startTarget(t: Parameters<typeof startService>[0], file: string) {
  const [reader, writer] = [
    await issueTokenIn({ file }, 'reader'),
    await issueTokenIn({ file }, 'writer'),
  ]
  const service = await startService(t, {
    DATABASE_URL: `sqlite:${file}`,
    NODE_ENV: 'production',
    DOCS: 'off',
  })
  const [empty, any] = [targetOf(service.port, reader), targetOf(service.port, writer)]
  const many = fc.array(asked, { minLength: AT_ONCE, maxLength: AT_ONCE })
  const fuzz = {
    json: async (inputs, seed) => {
      fc.assert(fc.property(json, checkJson), { numRuns: inputs, seed })
      return inputs
    },
    parameters: async (inputs, seed) => {
      const property = fc.asyncProperty(many, (requests) => checkParameters(empty, requests))
      return AT_ONCE * (await concurrently(CONNECTIONS, property, inputs / AT_ONCE, seed))
    },
    requests: (inputs, seed) => {
      const property = fc.asyncProperty(requestsTo(any), (bytes) => checkRequests(any, bytes))
      return concurrently(8 * CONNECTIONS, property, inputs, seed)
    },
  } satisfies Record<string, Fuzz>
  /** Ends the service. @throws {Error} with the unexpected events */
  const end = async () => {
    service.child.kill('SIGTERM')
    const { code, stdout, stderr } = await service.ended
    const faults = stdout.split('\n').filter((line) => /"level":(50|60)/.test(line))
    if (code !== 0 || faults.length > 0 || stderr !== '')
      throw new Error([`exit ${code}`, ...faults, stderr].join('\n'))
  }
  return { service, empty, any, fuzz, end }
}

/** A service to send bytes to. */
export type Target = ReturnType<typeof targetOf>

/** @param token of a caller who has no plants, or few */
function targetOf(port: number, token: string) {
  return {
    /** The header lines of a request with an access token. */
    headers: `Host: h\r\nAuthorization: Bearer ${token}\r\n`,
    /** A request for the end, whose answer closes the connection. */
    last: 'GET /last HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n',
    /**
     * Sends bytes on a new connection.
     * @param quiet milliseconds without a byte after which no more will be sent
     * @returns all answers
     * @throws {Error} for bytes that are no answer, or without an end
     */
    exchange: async (bytes: Buffer, quiet?: number) => {
      const received = await exchange(port, [bytes], Infinity, quiet)
      const answers = readResponses(received)
      const rest = received.length - answers.reduce((sum, { length }) => sum + length, 0)
      if (rest > 0)
        throw new Error(`no whole answer: ${received.subarray(-rest).toString().slice(0, 300)}`)
      return answers
    },
  }
}

async function concurrently<Value>(
  times: number,
  property: fc.IAsyncProperty<Value>,
  inputs: number,
  seed: number,
) {
  const numRuns = Math.ceil(inputs / times)
  // To make the input smaller would take long where a connection hangs.
  const assert = (index: number) =>
    fc.assert(property, { numRuns, endOnFailure: true, seed: seed + index })
  await Promise.all(Array.from({ length: times }, (_, index) => assert(index)))
  return numRuns * times
}

if (import.meta.main) {
  const options = {
    seed: { type: 'string' },
    inputs: { type: 'string', default: '1000000' },
  } as const
  const { values } = parseArgs({ options })
  const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31))
  const shares = { json: 0.6, parameters: 0.3, requests: 0.1 } as const
  const folder = mkdtempSync(`${tmpdir()}/plants-fuzz-`)
  const { service, fuzz, end } = await startTarget(undefined, `${folder}/plants.db`)
  console.log(`seed ${seed}`)
  try {
    for (const name of ['json', 'parameters', 'requests'] as const) {
      const start = performance.now()
      const inputs = await fuzz[name](Number(values.inputs) * shares[name], seed)
      const seconds = (performance.now() - start) / 1000
      console.log(
        `${name}: ${inputs} inputs in ${seconds.toFixed(1)} s, ${Math.round(inputs / seconds)} a second`,
      )
    }
    await end()
  } finally {
    service.child.kill('SIGKILL')
    rmSync(folder, { recursive: true })
  }
}
