/** One environment variable: its default, what it is for, and how its text is read. */
interface Variable<Value> {
  readonly fallback: string
  readonly meaning: string
  /** @throws {Error} whose message goes on after "NAME must be …" */
  readonly read: (text: string) => Value
}

const variable = <Value>(
  fallback: string,
  meaning: string,
  read: (text: string) => Value,
): Variable<Value> => ({
  fallback,
  meaning,
  read,
})

/** Every environment variable of the service: the one home of its name, default, range and meaning. */
export const variables = {
  HOST: variable('127.0.0.1', 'The address to listen on (the image sets `0.0.0.0`)', text),
  PORT: variable('3000', 'The port to listen on; `0` takes a free one', integer(0, 65_535)),
  DATABASE_URL: variable('sqlite:data/plants.db', 'Where the plants are kept: `sqlite:<file>`', databaseUrl),
  BASE_URL: variable('.', 'The server that the served `/openapi.yaml` names', baseUrl),
  LOG_LEVEL: variable(
    'info',
    'The least level logged: `fatal`, `error`, `warn`, `info`, `debug`, `trace`; or `silent`',
    oneOf('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'),
  ),
  NODE_ENV: variable('development', 'With `production`, no demo token is issued (the image sets it)', text),
  HEADERS_TIMEOUT: variable('3', 'Seconds until the headers of a request are in', seconds(0.1, 3600)),
  REQUEST_TIMEOUT: variable('5', 'Seconds until the whole request is in', seconds(0.1, 3600)),
  KEEP_ALIVE_TIMEOUT: variable('72', 'Seconds that an idle connection is kept', seconds(0.1, 3600)),
  STALL_TIMEOUT: variable('30', 'Seconds that a client may take nothing of its answer', seconds(0.1, 3600)),
  SHUTDOWN_TIMEOUT: variable(
    '10',
    'Seconds that requests in flight have to end after SIGTERM',
    seconds(0, 3600),
  ),
}

/** The configuration, by the names of the environment. Times are in seconds. */
export type Config = {
  readonly [Name in keyof typeof variables]: ReturnType<(typeof variables)[Name]['read']>
}

/** What an error says, whatever was thrown. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** The service can't start. The message tells a person what to mend: it names the variable, the file or the port. */
export class StartupError extends Error {
  override readonly name = 'StartupError'
}

/**
 * Reads the configuration. A variable that is absent or empty has its default.
 * @param environment texts by name, such as `process.env`
 * @throws {StartupError} naming every faulty variable at once
 */
export function readConfig(environment: Readonly<Record<string, string | undefined>>): Config {
  const faults: string[] = []
  const entries = Object.entries(variables).map(([name, { fallback, read }]) => {
    try {
      return [name, read(environment[name] || fallback)]
    } catch (error) {
      faults.push(`${name} must be ${reasonOf(error)}`)
      return []
    }
  })
  if (faults.length > 0) throw new StartupError(faults.join('; '))
  return Object.freeze(Object.fromEntries(entries) as Config) // of the entries that `variables` has, read by its readers
}

function text(value: string): string {
  return value
}

function integer(least: number, most: number) {
  return (value: string): number => {
    const number = Number(value)
    if (/^\d+$/.test(value) && number >= least && number <= most) return number
    throw new Error(`an integer from ${least} to ${most}, not "${value}"`)
  }
}

function seconds(least: number, most: number) {
  return (value: string): number => {
    const number = Number(value)
    if (/^\d+(\.\d+)?$/.test(value) && number >= least && number <= most) return number
    throw new Error(`a number of seconds from ${least} to ${most}, not "${value}"`)
  }
}

function oneOf<Choice extends string>(...choices: Choice[]) {
  return (value: string): Choice => {
    const choice = choices.find((each) => each === value)
    if (choice !== undefined) return choice
    throw new Error(`one of ${choices.join(', ')}, not "${value}"`)
  }
}

// The value is not in the message: a URL of another kind may hold a password.
function databaseUrl(value: string): { readonly file: string } {
  const file = /^sqlite:(.+)$/.exec(value)?.[1]
  if (file !== undefined && !file.startsWith(':')) return { file }
  throw new Error('sqlite:<file>, the only kind of store that this release has')
}

function baseUrl(value: string): string {
  const url = URL.parse(value, 'http://localhost/')
  if (url !== null && /^https?:$/.test(url.protocol) && /^[\w.~:/%[\]-]+$/.test(value)) return value
  throw new Error(`an http or https URL without query, or a relative one, not "${value}"`)
}
