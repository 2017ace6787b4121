import { execFile, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import autocannon from 'autocannon'
import manifest from 'autocannon/package.json' with { type: 'json' }

/** Stands in a request for an id, or for a token of many: another one in each request. All ids have as many digits. */
export const ID = '##########'

/** One request, to be made again and again for some time; each connection waits for its answer. */
export interface Load {
  readonly port: number
  readonly connections: number
  /** A whole number. */
  readonly seconds: number
  readonly method: 'GET' | 'POST' | 'DELETE'
  readonly path: string
  readonly token: string
  /** The file with the tokens of many callers, who take turns; `token` is then `ID`. */
  readonly tokens?: string
  readonly body?: string
  /** The first id, or the number of the first token. */
  readonly id?: number
  /** The status and the bytes of the body that each answer is to have. */
  readonly status: number
  readonly length: number
}

/** How it went. Times are in milliseconds. */
export interface Loaded {
  /** How many answers were as they are to be, and how many were not or did not come. */
  readonly right: number
  readonly wrong: number
  readonly seconds: number
  readonly p50: number
  readonly p90: number
  readonly p99: number
}

interface Tool {
  /** The name and version. */
  readonly name: string
  readonly run: (load: Load) => Promise<Loaded>
}

/** The load generator that comes with the packages. */
export const AUTOCANNON: Tool = { name: `autocannon ${manifest.version}`, run: runAutocannon }

/** The load generator: wrk where it is installed, for it takes less of the processor; else autocannon. */
export function chooseTool(): Tool {
  const { stdout, error } = spawnSync('wrk', ['-v'], { encoding: 'utf8' })
  const [name] = /^wrk \S+/.exec(stdout) ?? []
  return error === undefined && name !== undefined ? { name, run: runWrk } : AUTOCANNON
}

async function runWrk(load: Load): Promise<Loaded> {
  const { port, connections, seconds, method, path, token, tokens = '', body = '', status, length, id = 0 } = load
  const script = fileURLToPath(import.meta.resolve('./load.lua'))
  const { stdout } = await promisify(execFile)('wrk', [
    ...['-t', '1', '-c', String(connections), '-d', `${seconds}s`, '--timeout', '10s', '-s', script],
    `http://127.0.0.1:${port}`,
    ...['--', method, path, token, body, String(status), String(length), String(id), tokens],
  ])
  return JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '') as Loaded // as load.lua prints it
}

async function runAutocannon(load: Load): Promise<Loaded> {
  const { port, connections, seconds, method, path, token, tokens, body, status, length } = load
  let id = load.id ?? 0
  const items = tokens === undefined ? undefined : readFileSync(tokens, 'utf8').trimEnd().split('\n')
  const next = () => {
    const item = items?.[id % items.length] ?? String(id)
    id += 1
    const headers = {
      authorization: `Bearer ${token.replace(ID, item)}`,
      ...(body && { 'content-type': 'application/json' }),
    }
    return { headers, path: path.replace(ID, item), ...(body && { body: body.replace(ID, item) }) }
  }
  let [right, wrong] = [0, 0]
  const options: autocannon.Options = {
    url: `http://127.0.0.1:${port}`,
    connections,
    duration: seconds,
    requests: [
      {
        method,
        path,
        setupRequest: (request) => ({ ...request, ...next() }),
        onResponse: (answered, text) => {
          if (answered === status && Buffer.byteLength(text) === length) right += 1
          else wrong += 1
        },
      },
    ],
  }
  const times: number[] = []
  const { promise, resolve, reject } = Promise.withResolvers<autocannon.Result>()
  const generator = autocannon(options, (error, result) => (error ? reject(error) : resolve(result)))
  generator.on('response', (_, __, ___, milliseconds) => times.push(milliseconds))
  const { errors, timeouts, duration } = await promise
  times.sort((one, two) => one - two)
  const at = (share: number) => times[Math.floor(times.length * share)] ?? 0
  return { right, wrong: wrong + errors + timeouts, seconds: duration, p50: at(0.5), p90: at(0.9), p99: at(0.99) }
}
