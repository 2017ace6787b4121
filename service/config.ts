import { isIP } from 'node:net'
import { StartupError } from './errors.ts'

const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/

/** Set either all of these variables, or none. */
const JWT = ['JWT_ISSUER', 'JWT_AUDIENCE', 'JWKS_URL'] as const

/** Every environment variable of the service, with its default, range and meaning. */
export const variables = {
  HOST: variable('127.0.0.1', 'The address to listen on (the image sets `0.0.0.0`)', 'an address', String),
  PORT: integer('3000', 0, 65_535, 'The port to listen on; `0` takes a free one'),
  ADMIN_PORT: integer('3001', 0, 65_535, 'The port for probes and metrics, for operators only; not the same as `PORT`'),
  DATABASE_URL: variable(
    'sqlite:data/plants.db',
    'Where the plants are kept: `sqlite:<file>` or `postgres://<user>:<password>@<host>/<database>`',
    'sqlite:<file> or postgres://<user>:<password>@<host>/<database>',
    (text): { readonly file: string } | { readonly url: string } | undefined => {
      if (/^postgres(ql)?:\/\/.*[^/]/.test(text) && URL.canParse(text)) return { url: text }
      const [, file] = /^sqlite:([^:].*)$/.exec(text) ?? []
      return file === undefined ? undefined : { file }
    },
  ),
  DATABASE_POOL_SIZE: integer('5', 1, 1000, 'Connections to PostgreSQL; up to 16 more while long lists are read'),
  DATABASE_TIMEOUT: seconds(
    '3',
    0.1,
    'until an operation on PostgreSQL is given up, with 503; at most half of `STALL_TIMEOUT`',
  ),
  BASE_URL: variable(
    '.',
    'The base URL in the served `/openapi.yaml`',
    'an http or https URL without query, or a relative one',
    (text) => {
      const { protocol = '' } = URL.parse(text, 'http://localhost/') ?? {}
      return /^https?:$/.test(protocol) && /^[\w.~:/%[\]-]+$/.test(text) ? text : undefined
    },
  ),
  DOCS: word('on', ['on', 'off'], 'With `off` there is no page `/docs`; `/openapi.yaml` stays'),
  CORS_ORIGINS: list(
    isOrigin,
    'origins such as https://app.example',
    'Origins whose browser applications may call the API, such as `https://app.example`, with commas between; or `none`',
  ),
  TRUST_PROXY: list(
    isRange,
    'addresses and CIDR ranges',
    'Gateways whose `X-Forwarded-*` headers are trusted: addresses and CIDR ranges with commas between, or `none`',
  ),
  LOG_LEVEL: word(
    'info',
    ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'],
    'The lowest level that is logged: `fatal`, `error`, `warn`, `info`, `debug`, `trace`; or `silent`',
  ),
  NODE_ENV: variable('development', 'With `production`, no demo token is issued (the image sets it)', 'a text', String),
  JWT_ISSUER: variable(
    '',
    'The issuer whose JWTs are accepted, exactly as in their `iss`. It needs the next two variables, too',
    'at most 255 visible ASCII characters without #',
    (text) => /^[!-"$-~]{0,255}$/.exec(text)?.[0],
  ),
  JWT_AUDIENCE: variable(
    '',
    'The audience of those JWTs, exactly as in their `aud`',
    'visible ASCII characters',
    (text) => /^[!-~]*$/.exec(text)?.[0],
  ),
  JWKS_URL: variable(
    '',
    'Where the issuer publishes its keys; `http` only to a loopback address',
    'an https URL without user, or http to a loopback address',
    (text) => {
      const { protocol = '', hostname = '', username, password } = URL.parse(text) ?? {}
      const isSafe = protocol === 'https:' || (protocol === 'http:' && LOOPBACK.test(hostname))
      return text === '' || (isSafe && !username && !password) ? text : undefined
    },
  ),
  MAX_CONNECTIONS: integer('5000', 1, 1_000_000, 'Connections that may be open; further ones are closed'),
  HEADERS_TIMEOUT: seconds('3', 0.1, 'until the headers of a request must be complete'),
  REQUEST_TIMEOUT: seconds('5', 0.1, 'until the whole request must be complete'),
  KEEP_ALIVE_TIMEOUT: seconds('72', 0.1, 'that an idle connection is kept open'),
  STALL_TIMEOUT: seconds('30', 0.1, 'after which a client that takes nothing of its answer is disconnected'),
  ANSWER_TIMEOUT: seconds('300', 0.1, 'after which a client that has not taken all of a long list is disconnected'),
  DRAIN_DELAY: seconds(
    '5',
    0,
    'after SIGTERM during which requests are served and `/readyz` is 503, so that gateways notice',
  ),
  SHUTDOWN_TIMEOUT: seconds('4', 0, 'after `DRAIN_DELAY` until open requests are cut (Docker kills 10 after SIGTERM)'),
  OTEL_EXPORTER_OTLP_ENDPOINT: variable(
    'none',
    'Where traces are sent, over OTLP with JSON; `none`: nowhere',
    'an http or https URL',
    (text) => (text === 'none' || /^https?:$/.test(URL.parse(text)?.protocol ?? '') ? text : undefined),
  ),
}

/** The configuration, by the names of the environment. Times are in seconds. */
export type Config = {
  readonly [Name in keyof typeof variables]: NonNullable<ReturnType<(typeof variables)[Name]['read']>>
}

/**
 * Reads the configuration. A variable that is absent or empty has its default.
 * @param environment the values by name
 * @throws {StartupError} naming all faulty variables, but not their values: a URL may hold a password
 */
export function readConfig(environment: Readonly<Record<string, string | undefined>> = process.env): Config {
  const faults: string[] = []
  const entries = Object.entries(variables).map(([name, { fallback, kind, read }]) => {
    const value = read(environment[name] || fallback)
    if (value === undefined) faults.push(`${name} must be ${kind}`)
    return [name, value]
  })
  const isSet = JWT.find((name) => environment[name])
  const missing = isSet === undefined ? [] : JWT.filter((name) => !environment[name])
  faults.push(...missing.map((name) => `${name} must be set, as ${isSet} is`))
  const config = Object.fromEntries(entries) as Config // Object.fromEntries loses the types of the entries
  const { PORT, ADMIN_PORT, DATABASE_URL, DATABASE_TIMEOUT, STALL_TIMEOUT } = config
  if (PORT === ADMIN_PORT && PORT > 0) faults.push(`ADMIN_PORT must be another port than PORT, which is ${PORT}`)
  // A request may need two operations: one for its token, and one for plants. The connection must stay open for both.
  if (faults.length === 0 && 'url' in DATABASE_URL && DATABASE_TIMEOUT > STALL_TIMEOUT / 2) {
    faults.push(`DATABASE_TIMEOUT must be at most half of STALL_TIMEOUT, which is ${STALL_TIMEOUT}`)
  }
  if (faults.length > 0) throw new StartupError(faults.join('; '))
  return Object.freeze(config)
}

/** The value of an option that npm took as its own, because `--` is missing, as in `npm run token list --x=y`. */
export function npmOption(name: string): string | undefined {
  return process.env[`npm_config_${name}`]
}

/** Whether a text is the origin of a page on the web (RFC 6454, section 6.2), spelled as browsers send it. */
function isOrigin(text: string): boolean {
  return /^https?:[^*]+$/.test(text) && URL.parse(text)?.origin === text
}

/** Whether a text is an IP address, or a range of them in CIDR notation (RFC 4632, section 3.1; RFC 4291, section 2.3). */
function isRange(text: string): boolean {
  const [, address = '', length = '1'] = /^([^/]+)(?:\/([1-9]\d{0,2}))?$/.exec(text) ?? []
  return isIP(address) !== 0 && Number(length) <= (isIP(address) === 4 ? 32 : 128)
}

// `kind` says what the text must be. `read` returns undefined for any other text.
function variable<Value>(fallback: string, meaning: string, kind: string, read: (text: string) => Value | undefined) {
  return { fallback, meaning, kind, read }
}

function seconds(fallback: string, least: number, meaning: string) {
  return number(/^\d+(\.\d+)?$/, 'a number of seconds', fallback, least, 3600, `Seconds ${meaning}`)
}

function integer(fallback: string, least: number, most: number, meaning: string) {
  return number(/^\d+$/, 'an integer', fallback, least, most, meaning)
}

function number(spelling: RegExp, kind: string, fallback: string, least: number, most: number, meaning: string) {
  const isValid = (text: string) => spelling.test(text) && Number(text) >= least && Number(text) <= most
  const read = (text: string) => (isValid(text) ? Number(text) : undefined)
  return variable(fallback, meaning, `${kind} from ${least} to ${most}`, read)
}

function word<Word extends string>(fallback: Word, words: readonly Word[], meaning: string) {
  return variable(fallback, meaning, `one of ${words.join(', ')}`, (text) => words.find((each) => each === text))
}

function list(isItem: (text: string) => boolean, kind: string, meaning: string) {
  return variable('none', meaning, `none, or ${kind} with commas between`, (text) => {
    const items = text === 'none' ? [] : text.split(',').map((item) => item.trim())
    return items.every(isItem) ? items : undefined
  })
}
