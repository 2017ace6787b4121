// The servers of an address, tried in turn.
import { decode } from './connection-url.ts'

/**
 * A server: its name, its address or the folder of its socket, and its port. Absent: the defaults
 * of pg.
 */
export interface Host {
  readonly host?: string
  readonly port?: number
}

/** A name or an address, and a port. */
const HOST = /^(?:\[([0-9a-f:.]+)\]|([^:[\]]*))(?::(\d*))?$/i

/**
 * The servers of an address. Each stays current until it can't be used; then the next one has its
 * turn.
 */
export class Hosts {
  readonly #hosts: readonly Host[]
  #at = 0

  /** @param hosts at least one */
  constructor(hosts: readonly Host[]) {
    this.#hosts = hosts
  }

  get current(): Host {
    return this.#hosts[this.#at] ?? {}
  }

  /** Moves on from a server that can't be used, or takes no writes. */
  leave(host: Host): void {
    if (host === this.current) this.#at = (this.#at + 1) % this.#hosts.length
  }
}

export function isSocket(host: string | undefined): boolean {
  return host?.startsWith('/') === true
}

/**
 * Reads hosts and ports.
 * @param text the hosts of the URL
 * @param parameters `host` and `port` replace those of the URL
 * @throws {Error}
 */
export function readHosts(text: string, parameters: URLSearchParams): Host[] {
  const written = text.split(',').map(readHost)
  const names = parameters.get('host')?.split(',') ?? written.map(({ host }) => host)
  const ports = parameters.get('port')?.split(',').map(readPort) ?? written.map(({ port }) => port)
  const [port] = ports
  if (ports.length > 1 && ports.length !== names.length)
    throw new Error(`it has ${names.length} hosts and ${ports.length} ports`)
  return names.map((host, at) => toHost(host, ports.length > 1 ? ports[at] : port))
}

function readHost(text: string): Host {
  const [whole, address, name = '', port = ''] = HOST.exec(text) ?? []
  if (whole === undefined) throw new Error('a host is a name or an address, and may have a port')
  return toHost(address ?? decode(name), readPort(port))
}

function readPort(text: string): number | undefined {
  if (text === '') return undefined
  const port = Number(text)
  if (!Number.isInteger(port) || port < 1 || port > 65_535)
    throw new Error('a port is an integer from 1 to 65535')
  return port
}

function toHost(host: string | undefined, port: number | undefined): Host {
  return {
    ...(host !== undefined && host !== '' && { host }),
    ...(port !== undefined && { port }),
  }
}
