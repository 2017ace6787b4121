import { readFileSync, writeFileSync } from 'node:fs'
import { Deployment } from 'kubernetes-models/apps/v1'
import { NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1'
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1'
import { Service } from 'kubernetes-models/v1'
import t from 'tap'
import { parseAllDocuments } from 'yaml'
import { readConfig, variables } from '../service/engine/config.ts'
import { run } from './support/process.ts'

const { PORT, ADMIN_PORT, DRAIN_DELAY, SHUTDOWN_TIMEOUT } = readConfig('plants', {})
const { version }: { version: string } = JSON.parse(readFileSync('package.json', 'utf8'))

// The most seconds that a shutdown takes, as the README says.
const SHUTDOWN = DRAIN_DELAY + SHUTDOWN_TIMEOUT + 1

const documents = parseAllDocuments(readFileSync('deploy/kubernetes.yaml', 'utf8')).map(
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
    policy: new NetworkPolicy(find('NetworkPolicy')),
  }
}

t.test('the manifests are valid by the published schemas of Kubernetes', async (t) => {
  const { deployment, service, budget, policy } = manifests()
  t.equal(documents.length, 4)
  for (const each of [deployment, service, budget, policy]) t.doesNotThrow(() => each.validate(), each.kind)

  const { deployment: faulty } = manifests()
  Object.assign(faulty.spec ?? {}, { replicas: '2' })
  t.throws(() => faulty.validate())
})

t.test('the manifests have only properties that Kubernetes knows', async (t) => {
  const types = {
    Deployment: 'apps/v1',
    Service: 'v1',
    PodDisruptionBudget: 'policy/v1',
    NetworkPolicy: 'networking.k8s.io/v1',
  }
  const folder = t.testdir()
  /** Compiles the documents as literals: TypeScript refuses literals with unknown properties. @returns its errors */
  const compile = async (name: string, all: typeof documents) => {
    const lines = Object.entries(types).flatMap(([kind, from]) => [
      `import type { I${kind} } from 'kubernetes-models/${from}'`,
      `export const a${kind}: I${kind} = ${JSON.stringify(all.find((each) => each.kind === kind))}`,
    ])
    writeFileSync(`${folder}/${name}.ts`, lines.join('\n'))
    const options = '--ignoreConfig --noEmit --strict --skipLibCheck --module nodenext --target esnext'.split(' ')
    // Without tap's hooks: Node 26 crashes when it measures the coverage of compilers.
    const tsc = ['env', '-u', 'NODE_OPTIONS', process.execPath, 'node_modules/typescript/bin/tsc']
    return await run([...tsc, ...options, `${folder}/${name}.ts`], {})
  }
  t.match(await compile('known', documents), { code: 0, stdout: '' })
  const unknown = documents.map((each) => ({ ...each, spec: { ...each.spec, minAvailables: 1 } }))
  const { stdout } = await compile('unknown', unknown)
  t.equal([...stdout.matchAll(/minAvailables"?' does not exist/g)].length, 4, stdout)
})

// https://kubernetes.io/docs/concepts/security/pod-security-standards/
t.test('the pods comply with the profile "Restricted" of the Pod Security Standards', async (t) => {
  const { containers, securityContext, ...others } = manifests().pod
  t.strictSame(securityContext, { runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: 'RuntimeDefault' } })
  t.equal(containers.length, 1)
  for (const { securityContext, ports, livenessProbe, readinessProbe } of containers) {
    const capabilities = { drop: ['ALL'] }
    t.strictSame(securityContext, { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities })
    for (const port of ports ?? []) t.notOk('hostPort' in port)
    for (const probe of [livenessProbe, readinessProbe])
      t.strictSame(Object.keys(probe?.httpGet ?? {}), ['path', 'port'])
  }
  // No namespaces, volumes or init containers: the profile restricts nothing else that is here.
  const harmless = ['automountServiceAccountToken', 'terminationGracePeriodSeconds', 'topologySpreadConstraints']
  t.strictSame(Object.keys(others), harmless)
})

t.test('the manifests agree with the service and with each other', async (t) => {
  const { deployment, pod, container, service, budget, policy } = manifests()
  const labels = deployment.spec?.template.metadata?.labels
  for (const selector of [
    deployment.spec?.selector.matchLabels,
    service.spec?.selector,
    budget.spec?.selector?.matchLabels,
    policy.spec?.podSelector?.matchLabels,
    ...(pod.topologySpreadConstraints ?? []).map(({ labelSelector }) => labelSelector?.matchLabels),
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
  for (const { timeoutSeconds } of [container.livenessProbe ?? {}, container.readinessProbe ?? {}])
    t.ok(Number(timeoutSeconds) > 2, 'a stall of two seconds is tolerated')
  t.ok(container.image?.endsWith(`:${version}`))
  for (const what of ['cpu', 'memory'])
    t.ok(container.resources?.requests?.[what] && container.resources.limits?.[what])
  t.ok(Number(deployment.spec?.replicas) > Number(budget.spec?.minAvailable))
  for (const { name, value, valueFrom } of container.env ?? []) {
    t.ok(name in variables, name)
    t.notOk(name === 'DATABASE_URL' && value)
    if (name === 'DATABASE_URL') t.ok(valueFrom?.secretKeyRef)
  }
})

t.test('replicas of one version are spread over the nodes, and a node that is down does not count', async (t) => {
  t.match(manifests().pod.topologySpreadConstraints, [
    {
      topologyKey: 'kubernetes.io/hostname',
      maxSkew: 1,
      whenUnsatisfiable: 'DoNotSchedule',
      matchLabelKeys: ['pod-template-hash'],
      nodeTaintsPolicy: 'Honor',
    },
  ])
})

t.test('everybody reaches the port for callers, and only monitoring the admin port', async (t) => {
  const { policy } = manifests()
  t.match(policy.spec?.policyTypes, ['Ingress'])
  const rules = policy.spec?.ingress ?? []
  /** Whether the pods of a namespace reach a port of the service. A rule that names no namespace is for everybody. */
  const reaches = (namespace: string, port: string) =>
    rules.some(
      ({ from, ports }) =>
        ports?.some((each) => each.port === port) !== false &&
        from?.some((each) => (labelOf(each.namespaceSelector) ?? namespace) === namespace) !== false,
    )
  const labelOf = (selector?: { matchLabels?: Record<string, string> }) =>
    selector?.matchLabels?.['kubernetes.io/metadata.name']
  const reached = ['default', 'monitoring'].flatMap((namespace) =>
    ['http', 'admin'].filter((port) => reaches(namespace, port)).map((port) => `${namespace} ${port}`),
  )
  t.strictSame(reached, ['default http', 'monitoring http', 'monitoring admin'])
})
