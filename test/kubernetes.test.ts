import { readFileSync } from 'node:fs'
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
  (each): { apiVersion: string; kind: string } => each.toJS(),
)
const find = (kind: string) => JSON.parse(JSON.stringify(documents.find((each) => each.kind === kind)))

// The manifests, with types from the published schemas.
const deployment = new Deployment(find('Deployment'))
const service = new Service(find('Service'))
const budget = new PodDisruptionBudget(find('PodDisruptionBudget'))
const policy = new NetworkPolicy(find('NetworkPolicy'))
const pod = deployment.spec?.template.spec
const [container] = pod?.containers ?? []
if (pod === undefined || container === undefined) throw new Error('there is no container')

t.test('the manifests are valid by the published schemas of Kubernetes, and have no other properties', async (t) => {
  t.equal(documents.length, 4)
  for (const each of [deployment, service, budget, policy]) t.doesNotThrow(() => each.validate(), each.kind)
  // TypeScript refuses literals with unknown properties.
  const lines = documents.flatMap(({ apiVersion, kind, ...rest }) => [
    `import type { I${kind} } from 'kubernetes-models/${apiVersion}'`,
    `export const a${kind}: I${kind} = ${JSON.stringify({ apiVersion, kind, ...rest })}`,
  ])
  const file = `${t.testdir({ 'known.ts': lines.join('\n') })}/known.ts`
  const options = '--ignoreConfig --noEmit --strict --skipLibCheck --module nodenext --target esnext'.split(' ')
  // Without tap's hooks: Node 26 crashes when it measures the coverage of compilers.
  const tsc = ['env', '-u', 'NODE_OPTIONS', process.execPath, 'node_modules/typescript/bin/tsc']
  t.match(await run([...tsc, ...options, file], {}), { code: 0, stdout: '' })
})

// https://kubernetes.io/docs/concepts/security/pod-security-standards/
t.test('the pods comply with the profile "Restricted" of the Pod Security Standards', async (t) => {
  const { containers, securityContext, ...others } = pod
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
  const labels = deployment.spec?.template.metadata?.labels
  const spread = (pod.topologySpreadConstraints ?? []).map(({ labelSelector }) => labelSelector)
  const selectors = [deployment.spec?.selector, budget.spec?.selector, policy.spec?.podSelector, ...spread]
  for (const each of [service.spec?.selector, ...selectors.map((selector) => selector?.matchLabels)])
    t.strictSame(each, labels)
  const ports = new Map(container.ports?.map(({ name, containerPort }) => [name, containerPort]))
  t.strictSame([...ports.values()], [PORT, ADMIN_PORT])
  t.equal(ports.get('http'), PORT)
  t.match(container.livenessProbe, { httpGet: { path: '/livez', port: 'admin' } })
  t.match(container.readinessProbe, { httpGet: { path: '/readyz', port: 'admin' } })
  const published = service.spec?.ports?.map(({ targetPort }) => targetPort)
  t.strictSame(published, ['http'], 'the admin port is not published')
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

t.test('everybody reaches the port for callers, and only monitoring the admin port', async (t) => {
  const monitoring = { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'monitoring' } } }
  t.strictSame(policy.spec?.ingress, [
    { ports: [{ port: 'http' }] },
    { from: [monitoring], ports: [{ port: 'admin' }] },
  ])
  t.strictSame(policy.spec?.policyTypes, ['Ingress'])
})
