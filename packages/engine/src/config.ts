// The configuration of a service, from the environment.
import { isIP } from 'node:net'
import { StartupError } from './errors.ts'

/** Both of these variables must be set, or none. The others for JWTs need them. */
const JWT = ['JWT_ISSUER', 'JWT_AUDIENCE'] as const
const OTHERS_FOR_JWT = ['JWT_TYPE', 'JWKS_URL'] as const

interface VariableType<Value> {
  /** The valid values, described for people in Markdown. */
  readonly values: string
  /** Reads a string; undefined if it is not valid. */
  readonly read: (written: string) => Value | undefined
}

const integer = (least: number, most: number) => number('an integer', /^\d+$/, least, most)
const seconds = (least: number) => number('a number of seconds', /^\d+(\.\d+)?$/, least, 3600)
const BASE = string(
  'an http or https URL without query, or a relative one',
  /^(https?:\/\/[\w.~:%[\]-]+(?=\/|$))?[\w.~/%-]*$/,
)
const COLLECTOR = string('`none`, or an http or https URL', /^(none|https?:\/\/\S+)$/)
const ISSUER = string('at most 255 visible ASCII characters without `#`', /^[!-"$-~]{0,255}$/)
const AUDIENCE = string('visible ASCII characters', /^[!-~]*$/)
const KEYS = string(
  'an https URL without user, or http to a loopback address',
  /^$|^https:\/\/[^\s@]+$|^http:\/\/(localhost|127(\.\d+){1,3}|\[::1\])(:\d+)?(\/\S*)?$/,
)
/** Describes valid URLs of an issuer's keys. */
export const ADDRESS_OF_KEYS = KEYS.values
/** Whether the keys of an issuer may be fetched from a URL, wherever it was found. */
export const isAddressOfKeys = (address: string) =>
  address !== '' && KEYS.read(address) !== undefined
/** A host of PostgreSQL, with its port. An address of IPv6 is in brackets. */
const HOST_AND_PORT = /^(\[[0-9a-f:.]+\]|[^:[\]\s]+)?(:\d{0,5})?$/i
const ORIGINS = list('origins such as `https://app.example`', isOrigin)
const RANGES = list('addresses and CIDR ranges', isRange)

/** Every environment variable of the service: its default, its type and its meaning. */
export const variables = {
  HOST: ['127.0.0.1', string('an address'), 'The address to listen on (the image sets `0.0.0.0`)'],
  PORT: ['3000', integer(0, 65_535), 'The port to listen on; `0` takes a free one'],
  ADMIN_PORT: [
    '3001',
    integer(0, 65_535),
    'The port for operators: probes and metrics; another one than `PORT`',
  ],
  DATABASE_URL: ['sqlite:data/{name}.db', databaseUrl(), 'Where the data is kept'],
  DATABASE_PASSWORD_FILE: [
    '',
    string('the path of a file'),
    'A file with the password for PostgreSQL, which is read for each new connection',
  ],
  DATABASE_POOL_SIZE: ['5', integer(1, 1000), 'Connections to PostgreSQL'],
  DATABASE_TIMEOUT: [
    '3',
    seconds(0.1),
    'Until PostgreSQL answers, else 503; at most half of `STALL_TIMEOUT`',
  ],
  BASE_URL: ['.', BASE, 'The base URL in the served `/openapi.yaml`'],
  DOCS: ['on', word('on', 'off'), 'With `off` there is no page `/docs`; `/openapi.yaml` stays'],
  CORS_ORIGINS: ['none', ORIGINS, 'Origins whose browser applications may call the API'],
  TRUST_PROXY: ['none', RANGES, 'Gateways whose `X-Forwarded-*` headers are trusted'],
  LOG_LEVEL: [
    'info',
    word('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'),
    'The lowest level to log',
  ],
  NODE_ENV: [
    'development',
    string('a string'),
    'With `production`, no demo token is issued (the image sets it)',
  ],
  JWT_ISSUER: ['', ISSUER, 'The issuer whose JWTs are accepted, exactly as in their `iss`'],
  JWT_AUDIENCE: ['', AUDIENCE, 'The audience of those JWTs, exactly as in `aud`'],
  JWT_TYPE: [
    'at+jwt',
    word('at+jwt', 'JWT'),
    'The `typ` of those JWTs. `JWT` takes any: see [below](#jwt-from-an-identity-provider)',
  ],
  JWKS_URL: [
    '',
    KEYS,
    'Where the issuer publishes its keys. By default its `/.well-known/openid-configuration` says it',
  ],
  MAX_CONNECTIONS: [
    '5000',
    integer(1, 1_000_000),
    'Connections that may be open; further ones are closed',
  ],
  HEADERS_TIMEOUT: ['3', seconds(0.1), 'Until the headers of a request must be complete'],
  REQUEST_TIMEOUT: ['5', seconds(0.1), 'Until the whole request must be complete'],
  KEEP_ALIVE_TIMEOUT: ['72', seconds(0.1), 'Until an idle connection is closed'],
  STALL_TIMEOUT: [
    '30',
    seconds(0.1),
    'Until a client that takes nothing of its answer is disconnected',
  ],
  ANSWER_TIMEOUT: [
    '300',
    seconds(0.1),
    'Until a client that has not taken its whole answer is disconnected; of events, since the last one',
  ],
  DRAIN_DELAY: [
    '5',
    seconds(0),
    'After SIGTERM: requests are served, `/readyz` is 503, and gateways notice',
  ],
  SHUTDOWN_TIMEOUT: [
    '4',
    seconds(0),
    'Then, until open requests are cut (Docker kills 10 s after SIGTERM)',
  ],
  OTEL_EXPORTER_OTLP_ENDPOINT: ['none', COLLECTOR, 'Where traces are sent, over OTLP with JSON'],
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: [
    '',
    string('an http or https URL', /^$|^https?:\/\/\S+$/),
    'The same with its whole path, before the other one',
  ],
  OTEL_TRACES_EXPORTER: [
    'otlp',
    string('names with commas between', /^[\w-]+(,[\w-]+)*$/),
    'Without `otlp`, such as with `none`, no traces are sent',
  ],
} satisfies Record<string, readonly [fallback: string, VariableType<unknown>, meaning: string]>

/**
 * The configuration, by the names of the variables. Times are in seconds.
 * @example
 * ```ts
 * import type { Config } from '@plant-store/engine'
 *
 * export const isPostgres = ({ DATABASE_URL }: Config) => 'url' in DATABASE_URL
 * ```
 */
export type Config = {
  readonly [Name in keyof typeof variables]: NonNullable<
    ReturnType<(typeof variables)[Name][1]['read']>
  >
}

/**
 * Reads the configuration. A variable that is absent or empty has its default.
 * @param name of the product, for the default name of the database file
 * @param environment the values by name
 * @throws {StartupError} naming all faulty variables, but not their values: a URL may hold a
 * password
 * @example
 * ```ts
 * import { readConfig } from '@plant-store/engine'
 *
 * export const { DATABASE_URL, DATABASE_TIMEOUT } = readConfig('notes')
 * ```
 */
export function readConfig(name: string, environment: Environment = process.env): Config {
  const faults: string[] = []
  const entries = Object.entries(variables).map(([variable, [fallback, { values, read }]]) => {
    const value = read(environment[variable] || fallback.replace('{name}', name))
    if (value === undefined) faults.push(`${variable} must be ${values.replaceAll('`', '')}`)
    return [variable, value]
  })
  faults.push(...faultsOfJwt(environment))
  const config = Object.fromEntries(entries) as Config // Object.fromEntries loses the types of the entries
  const { PORT, ADMIN_PORT, DATABASE_URL, DATABASE_TIMEOUT, STALL_TIMEOUT } = config
  if (PORT === ADMIN_PORT && PORT > 0)
    faults.push(`ADMIN_PORT must be another port than PORT, which is ${PORT}`)
  // A request may need two operations: one for its token, and one for an item. The connection must
  // stay open for both.
  if (faults.length === 0 && 'url' in DATABASE_URL && DATABASE_TIMEOUT > STALL_TIMEOUT / 2) {
    faults.push(`DATABASE_TIMEOUT must be at most half of STALL_TIMEOUT, which is ${STALL_TIMEOUT}`)
  }
  if (faults.length > 0) throw new StartupError(faults.join('; '))
  return Object.freeze(config)
}

export type Environment = Readonly<Record<string, string | undefined>>
/** All variables of the environment, for the product's resources. */
export const readEnvironment = (): Environment => Object.freeze({ ...process.env })

function faultsOfJwt(environment: Environment): string[] {
  if (![...JWT, ...OTHERS_FOR_JWT].some((name) => environment[name])) return []
  const missing = JWT.filter((name) => !environment[name])
  const faults = missing.map((name) => `${name} must be set, as others for JWTs are`)
  const { JWT_ISSUER: issuer = '', JWKS_URL: keys = '' } = environment
  if (keys === '' && issuer !== '' && !isAddressOfKeys(issuer))
    faults.push(`JWKS_URL must be set, because JWT_ISSUER is not ${ADDRESS_OF_KEYS}`)
  return faults
}

/**
 * Whether npm has taken an option of a command, because `--` is missing, as in `npm run generate
 * --check`. npm passes its options on in the environment. If npm knows a longer option with the
 * same beginning, it sets the longer one, without a value.
 */
export function isTakenByNpm(option: string): boolean {
  const name = `npm_config_${option.replaceAll('-', '_')}`
  return Object.entries(process.env).some(
    ([key, value]) => key === name || (key.startsWith(`${name}_`) && value === 'true'),
  )
}

/**
 * The folder in which a person called a script of npm; else the current folder. npm runs scripts in
 * the folder of package.json.
 */
export function callersFolder(script: string): string {
  const { npm_lifecycle_event: running, INIT_CWD: folder = '.' } = process.env
  return running === script ? folder : '.'
}

/** The environment for another program, without the variables matching a pattern. */
export function environmentWithout(names: RegExp): Record<string, string | undefined> {
  const others = Object.entries(process.env).filter(([name]) => !names.test(name))
  return Object.fromEntries(others)
}

/** A string of this pattern. If it begins like a URL, it must be a valid URL. */
function string(values: string, pattern = /^/): VariableType<string> {
  const isValid = (written: string) =>
    pattern.test(written) && (!/^https?:/.test(written) || URL.canParse(written))
  return { values, read: (written) => (isValid(written) ? written : undefined) }
}

function word<const Word extends string>(...words: Word[]): VariableType<Word> {
  return {
    values: `one of \`${words.join('`, `')}\``,
    read: (written) => words.find((word) => word === written),
  }
}

function number(
  values: string,
  spelling: RegExp,
  least: number,
  most: number,
): VariableType<number> {
  const isValid = (written: string) =>
    spelling.test(written) && Number(written) >= least && Number(written) <= most
  return {
    values: `${values} from ${least} to ${most}`,
    read: (written) => (isValid(written) ? Number(written) : undefined),
  }
}

function list(values: string, isItem: (written: string) => boolean): VariableType<string[]> {
  const read = (written: string) => {
    const items = written === 'none' ? [] : written.split(',').map((item) => item.trim())
    return items.every(isItem) ? items : undefined
  }
  return { values: `\`none\`, or ${values} with commas between`, read }
}

/**
 * Whether a string is the origin of a web page (RFC 6454, section 6.2), spelled as browsers send
 * it.
 */
function isOrigin(written: string): boolean {
  return /^https?:[^*]+$/.test(written) && URL.parse(written)?.origin === written
}

/**
 * Whether a string is an IP address, or a range in CIDR notation (RFC 4632, section 3.1; RFC 4291,
 * section 2.3).
 */
function isRange(written: string): boolean {
  const [, address = '', length = '1'] = /^([^/]+)(?:\/([1-9]\d{0,2}))?$/.exec(written) ?? []
  return isIP(address) !== 0 && Number(length) <= (isIP(address) === 4 ? 32 : 128)
}

/** Whether a string is a URL in libpq's format: it may have several hosts, or none. */
function isPostgresUrl(written: string): boolean {
  const [, scheme, login = '', hosts = '', rest = ''] =
    /^(postgres(?:ql)?:\/\/)([^/?#]*@)?([^/?#@]*)(.*)$/.exec(written) ?? []
  const areHosts = hosts.split(',').every((host) => host === '' || HOST_AND_PORT.test(host))
  return areHosts && `${hosts}${rest}` !== '' && URL.canParse(`${scheme ?? ''}${login}host${rest}`)
}

function databaseUrl(): VariableType<{ readonly file: string } | { readonly url: string }> {
  const read = (written: string) => {
    if (isPostgresUrl(written)) return { url: written }
    const [, file] = /^sqlite:([^:].*)$/.exec(written) ?? []
    return file === undefined ? undefined : { file }
  }
  return { values: '`sqlite:<file>` or `postgres://<user>:<password>@<host>/<database>`', read }
}
