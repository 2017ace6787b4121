// The profile "Restricted", which includes "Baseline": https://kubernetes.io/docs/concepts/security/pod-security-standards/
import type { IContainer, IPodSpec } from 'kubernetes-models/v1'

type Pod = IPodSpec
type Container = IContainer

const VOLUMES = [
  'configMap',
  'csi',
  'downwardAPI',
  'emptyDir',
  'ephemeral',
  'persistentVolumeClaim',
  'projected',
  'secret',
]
const SYSCTLS = new Set([
  'kernel.shm_rmid_forced',
  'net.ipv4.ip_local_port_range',
  'net.ipv4.ip_unprivileged_port_start',
  'net.ipv4.tcp_syncookies',
  'net.ipv4.ping_group_range',
  'net.ipv4.ip_local_reserved_ports',
  'net.ipv4.tcp_keepalive_time',
  'net.ipv4.tcp_fin_timeout',
  'net.ipv4.tcp_keepalive_intvl',
  'net.ipv4.tcp_keepalive_probes',
])
const isSeccomp = (type?: string) => type === 'RuntimeDefault' || type === 'Localhost'
const isAppArmor = (type?: string) => type === undefined || isSeccomp(type)
const isSelinux = (options: { type?: string; user?: string; role?: string } = {}) =>
  /^(|container_t|container_init_t|container_kvm_t|container_engine_t)$/.test(options.type ?? '') &&
  !options.user &&
  !options.role

/** The controls, by their names on the page. Each says whether a container of a pod complies. */
const CONTROLS: Record<string, (container: Container, pod: Pod) => boolean> = {
  'Host Namespaces': (_, { hostNetwork, hostPID, hostIPC }) => !hostNetwork && !hostPID && !hostIPC,
  'Host Process': ({ securityContext }, pod) =>
    !securityContext?.windowsOptions?.hostProcess && !pod.securityContext?.windowsOptions?.hostProcess,
  'Privileged Containers': ({ securityContext }) => !securityContext?.privileged,
  'HostPath Volumes, Volume Types': (_, { volumes = [] }) =>
    volumes.every((volume) => Object.keys(volume).every((key) => key === 'name' || VOLUMES.includes(key))),
  'Host Ports': ({ ports = [] }) => ports.every(({ hostPort = 0 }) => hostPort === 0),
  'Host Probes / Lifecycle Hooks': ({ livenessProbe, readinessProbe, startupProbe, lifecycle }) =>
    [livenessProbe, readinessProbe, startupProbe, lifecycle?.postStart, lifecycle?.preStop].every(
      (each) => !each?.httpGet?.host && !each?.tcpSocket?.host,
    ),
  AppArmor: ({ securityContext }, pod) =>
    isAppArmor(securityContext?.appArmorProfile?.type) && isAppArmor(pod.securityContext?.appArmorProfile?.type),
  SELinux: ({ securityContext }, pod) =>
    isSelinux(securityContext?.seLinuxOptions) && isSelinux(pod.securityContext?.seLinuxOptions),
  '/proc Mount Type': ({ securityContext }) => (securityContext?.procMount ?? 'Default') === 'Default',
  Sysctls: (_, { securityContext }) => (securityContext?.sysctls ?? []).every(({ name }) => SYSCTLS.has(name)),
  'Privilege Escalation': ({ securityContext }) => securityContext?.allowPrivilegeEscalation === false,
  'Running as Non-root': ({ securityContext }, pod) =>
    securityContext?.runAsNonRoot ?? pod.securityContext?.runAsNonRoot ?? false,
  'Running as Non-root user': ({ securityContext }, pod) =>
    securityContext?.runAsUser !== 0 && pod.securityContext?.runAsUser !== 0,
  Seccomp: ({ securityContext }, pod) =>
    isSeccomp(securityContext?.seccompProfile?.type ?? pod.securityContext?.seccompProfile?.type),
  Capabilities: ({ securityContext }) =>
    (securityContext?.capabilities?.drop ?? []).includes('ALL') &&
    (securityContext?.capabilities?.add ?? []).every((name) => name === 'NET_BIND_SERVICE'),
}

/** The controls that a pod violates, by name. */
export function violationsOf(pod: Pod): string[] {
  const containers = [...pod.containers, ...(pod.initContainers ?? [])]
  return Object.entries(CONTROLS)
    .filter(([, isMet]) => !containers.every((container) => isMet(container, pod)))
    .map(([name]) => name)
}
