/** One environment variable: its default, what it is for, and how its text is read. */
interface Variable<Value> {
  readonly fallback: string
  readonly meaning: string
  /** @throws {Error} whose message goes on after "NAME must be …" */
  readonly read: (text: string) => Value
}

/** Every environment variable of the service: the one home of its name, default, range and meaning. */
export const variables = {
  HOST: variable('127.0.0.1', 'The address to listen on (the image sets `0.0.0.0`)', String),
  PORT: variable('3000', 'The port to listen on; `0` takes a free one', number(/^\d+$/, 'an integer', 0, 65_535)),
  DATABASE_URL: variable('sqlite:data/plants.db', 'Where the plants are kept: `sqlite:<file>`', databaseUrl),
  BASE_URL: variable('.', 'The server that the served `/openapi.yaml` names', baseUrl),
  LOG_LEVEL: variable(
    'info',
    'The least level logged: `fatal`, `error`, `warn`, `info`, `debug`, `trace`; or `silent`',
    oneOf('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'),
  ),
  NODE_ENV: variable('development', 'With `production`, no demo token is issued (the image sets it)', String),
  HEADERS_TIMEOUT: seconds('3', 0.1, 'until the headers of a request are in'),
  REQUEST_TIMEOUT: seconds('5', 0.1, 'until the whole request is in'),
  KEEP_ALIVE_TIMEOUT: seconds('72', 0.1, 'that an idle connection is kept'),
  STALL_TIMEOUT: seconds('30', 0.1, 'that a client may take nothing of its answer'),
  SHUTDOWN_TIMEOUT: seconds('8', 0, 'that requests in flight have to end after SIGTERM (Docker kills after 10)'),
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

function variable<Value>(fallback: string, meaning: string, read: Variable<Value>['read']): Variable<Value> {
  return { fallback, meaning, read }
}

function seconds(fallback: string, least: number, meaning: string): Variable<number> {
  return variable(fallback, `Seconds ${meaning}`, number(/^\d+(\.\d+)?$/, 'a number of seconds', least, 3600))
}

function number(spelling: RegExp, kind: string, least: number, most: number) {
  return (text: string): number => {
    if (spelling.test(text) && Number(text) >= least && Number(text) <= most) return Number(text)
    throw new Error(`${kind} from ${least} to ${most}, not "${text}"`)
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
