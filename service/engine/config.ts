import { isIP } from 'node:net'
import { StartupError } from './errors.ts'

/** Set either all of these variables, or none. */
const JWT = ['JWT_ISSUER', 'JWT_AUDIENCE', 'JWKS_URL'] as const

/** The values that a variable may have. */
interface Type<Value> {
  /** What is valid, for people, in Markdown. */
  readonly values: string
  /** Reads a text; undefined if it is not valid. */
  readonly read: (text: string) => Value | undefined
}

/** Every environment variable of the service: its default, its type and its meaning. */
export const variables = {
  HOST: ['127.0.0.1', text('an address'), 'The address to listen on (the image sets `0.0.0.0`)'],
  PORT: ['3000', integer(0, 65_535), 'The port to listen on; `0` takes a free one'],
  ADMIN_PORT: ['3001', integer(0, 65_535), 'The port for operators: probes and metrics; another one than `PORT`'],
  DATABASE_URL: ['sqlite:data/{name}.db', databaseUrl(), 'Where the data is kept'],
  DATABASE_POOL_SIZE: ['5', integer(1, 1000), 'Connections to PostgreSQL'],
  DATABASE_TIMEOUT: [
    '3',
    seconds(0.1),
    'Until PostgreSQL must have answered, else 503; at most half of `STALL_TIMEOUT`',
  ],
  BASE_URL: ['.', baseUrl(), 'The base URL in the served `/openapi.yaml`'],
  DOCS: ['on', word('on', 'off'), 'With `off` there is no page `/docs`; `/openapi.yaml` stays'],
  CORS_ORIGINS: ['none', origins(), 'Origins whose browser applications may call the API'],
  TRUST_PROXY: ['none', addresses(), 'Gateways whose `X-Forwarded-*` headers are trusted'],
  LOG_LEVEL: ['info', word('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'), 'The lowest level to log'],
  NODE_ENV: ['development', text('a text'), 'With `production`, no demo token is issued (the image sets it)'],
  JWT_ISSUER: ['', issuer(), 'The issuer whose JWTs are accepted, exactly as in their `iss`'],
  JWT_AUDIENCE: ['', text('visible ASCII characters', /^[!-~]*$/), 'The audience of those JWTs, exactly as in `aud`'],
  JWKS_URL: ['', keysUrl(), 'Where the issuer publishes its keys'],
  MAX_CONNECTIONS: ['5000', integer(1, 1_000_000), 'Connections that may be open; further ones are closed'],
  HEADERS_TIMEOUT: ['3', seconds(0.1), 'Until the headers of a request must be complete'],
  REQUEST_TIMEOUT: ['5', seconds(0.1), 'Until the whole request must be complete'],
  KEEP_ALIVE_TIMEOUT: ['72', seconds(0.1), 'Until an idle connection is closed'],
  STALL_TIMEOUT: ['30', seconds(0.1), 'Until a client that takes nothing of its answer is disconnected'],
  ANSWER_TIMEOUT: ['300', seconds(0.1), 'Until a client that has not taken all of a long list is disconnected'],
  DRAIN_DELAY: ['5', seconds(0), 'After SIGTERM: requests are served, `/readyz` is 503, and gateways notice'],
  SHUTDOWN_TIMEOUT: ['4', seconds(0), 'Then, until open requests are cut (Docker kills 10 s after SIGTERM)'],
  OTEL_EXPORTER_OTLP_ENDPOINT: ['none', collector(), 'Where traces are sent, over OTLP with JSON'],
} as const satisfies Record<string, readonly [fallback: string, Type<unknown>, meaning: string]>

/** The configuration, by the names of the environment. Times are in seconds. */
export type Config = {
  readonly [Name in keyof typeof variables]: NonNullable<ReturnType<(typeof variables)[Name][1]['read']>>
}

/**
 * Reads the configuration. A variable that is absent or empty has its default.
 * @param name of the product, from which the default file of the database has its name
 * @param environment the values by name
 * @throws {StartupError} naming all faulty variables, but not their values: a URL may hold a password
 */
export function readConfig(
  name: string,
  environment: Readonly<Record<string, string | undefined>> = process.env,
): Config {
  const faults: string[] = []
  const entries = Object.entries(variables).map(([variable, [fallback, { values, read }]]) => {
    const value = read(environment[variable] || fallback.replace('{name}', name))
    if (value === undefined) faults.push(`${variable} must be ${values.replaceAll('`', '')}`)
    return [variable, value]
  })
  const isSet = JWT.find((name) => environment[name])
  const missing = isSet === undefined ? [] : JWT.filter((name) => !environment[name])
  faults.push(...missing.map((name) => `${name} must be set, as ${isSet} is`))
  const config = Object.fromEntries(entries) as Config // Object.fromEntries loses the types of the entries
  const { PORT, ADMIN_PORT, DATABASE_URL, DATABASE_TIMEOUT, STALL_TIMEOUT } = config
  if (PORT === ADMIN_PORT && PORT > 0) faults.push(`ADMIN_PORT must be another port than PORT, which is ${PORT}`)
  // A request may need two operations: one for its token, and one for an item. The connection must stay open for both.
  if (faults.length === 0 && 'url' in DATABASE_URL && DATABASE_TIMEOUT > STALL_TIMEOUT / 2) {
    faults.push(`DATABASE_TIMEOUT must be at most half of STALL_TIMEOUT, which is ${STALL_TIMEOUT}`)
  }
  if (faults.length > 0) throw new StartupError(faults.join('; '))
  return Object.freeze(config)
}

/** The default of `DATABASE_URL`. @param name of the product */
export function defaultDatabase(name: string): string {
  return variables.DATABASE_URL[0].replace('{name}', name)
}

/** The value of an option that npm took as its own, because `--` is missing, as in `npm run token list --x=y`. */
export function npmOption(name: string): string | undefined {
  return process.env[`npm_config_${name}`]
}

function text(values: string, pattern = /^/): Type<string> {
  return checked(values, (text) => pattern.test(text))
}

function checked(values: string, isValid: (text: string) => boolean): Type<string> {
  return { values, read: (text) => (isValid(text) ? text : undefined) }
}

function integer(least: number, most: number) {
  return number('an integer', /^\d+$/, least, most)
}

function seconds(least: number) {
  return number('a number of seconds', /^\d+(\.\d+)?$/, least, 3600)
}

function number(values: string, spelling: RegExp, least: number, most: number): Type<number> {
  const isValid = (text: string) => spelling.test(text) && Number(text) >= least && Number(text) <= most
  return { values: `${values} from ${least} to ${most}`, read: (text) => (isValid(text) ? Number(text) : undefined) }
}

function word<const Word extends string>(...words: Word[]): Type<Word> {
  return { values: `one of \`${words.join('`, `')}\``, read: (text) => words.find((each) => each === text) }
}

function list(values: string, isItem: (text: string) => boolean): Type<string[]> {
  const read = (text: string) => {
    const items = text === 'none' ? [] : text.split(',').map((item) => item.trim())
    return items.every(isItem) ? items : undefined
  }
  return { values: `\`none\`, or ${values} with commas between`, read }
}

/** Origins of pages on the web (RFC 6454, section 6.2), spelled as browsers send them. */
function origins() {
  const isOrigin = (text: string) => /^https?:[^*]+$/.test(text) && URL.parse(text)?.origin === text
  return list('origins such as `https://app.example`', isOrigin)
}

/** IP addresses, and ranges of them in CIDR notation (RFC 4632, section 3.1; RFC 4291, section 2.3). */
function addresses() {
  return list('addresses and CIDR ranges', (text) => {
    const [, address = '', length = '1'] = /^([^/]+)(?:\/([1-9]\d{0,2}))?$/.exec(text) ?? []
    return isIP(address) !== 0 && Number(length) <= (isIP(address) === 4 ? 32 : 128)
  })
}

function databaseUrl(): Type<{ readonly file: string } | { readonly url: string }> {
  const read = (text: string) => {
    if (/^postgres(ql)?:\/\/.*[^/]/.test(text) && URL.canParse(text)) return { url: text }
    const [, file] = /^sqlite:([^:].*)$/.exec(text) ?? []
    return file === undefined ? undefined : { file }
  }
  return { values: '`sqlite:<file>` or `postgres://<user>:<password>@<host>/<database>`', read }
}

function baseUrl() {
  const isPlain = (text: string) => /^[\w.~:/%[\]-]+$/.test(text)
  const values = 'an http or https URL without query, or a relative one'
  return checked(values, (text) => isPlain(text) && isHttp(text, 'http://localhost/'))
}

function keysUrl() {
  return checked('an https URL without user, or http to a loopback address', (text) => {
    const { protocol, hostname = '', username, password } = URL.parse(text) ?? {}
    const isLoopback = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname)
    const isSafe = protocol === 'https:' || (protocol === 'http:' && isLoopback)
    return text === '' || (isSafe && !username && !password)
  })
}

function issuer() {
  return text('at most 255 visible ASCII characters without `#`', /^[!-"$-~]{0,255}$/)
}

function collector() {
  return checked('`none`, or an http or https URL', (text) => text === 'none' || isHttp(text))
}

function isHttp(text: string, base?: string): boolean {
  return /^https?:$/.test(URL.parse(text, base)?.protocol ?? '')
}
