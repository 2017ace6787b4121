// Reads the TLS parameters of an address.
import { readFileSync } from 'node:fs'
import tls from 'node:tls'

/** Parameters only for TLS. Without `sslmode` they mean `verify-full`. */
const OF_TLS = ['sslcert', 'sslkey', 'sslrootcert']

/**
 * Reads the options for TLS: https://www.postgresql.org/docs/current/libpq-ssl.html
 * @param parameters of the address
 * @returns false without TLS
 * @throws {Error} if parameters weaken each other, or a certificate can't be read
 */
export function readTls(parameters: URLSearchParams): false | tls.ConnectionOptions {
  const mode = modeOf(parameters)
  assertNotWeaker(mode, parameters)
  if (mode === 'disable') return false
  const root = parameters.get('sslrootcert')
  const ca = root === null ? undefined : readRoots(root)
  const options = { ...readCertificate(parameters), ...(ca && { ca }) }
  if (mode === 'verify-full') return options
  // With a CA, `require` means `verify-ca`: the server may have any name.
  if (ca !== undefined) return { ...options, checkServerIdentity: () => undefined }
  if (mode === 'require') return { ...options, rejectUnauthorized: false }
  throw new Error('sslmode=verify-ca requires specifying a CA with sslrootcert')
}

function modeOf(parameters: URLSearchParams): string {
  const isDirect = parameters.get('sslnegotiation') === 'direct'
  const isOfTls = isDirect || OF_TLS.some((name) => parameters.has(name))
  const usual = isOfTls ? 'verify-full' : 'disable'
  const short = parameters.has('ssl') ? 'require' : usual // as libpq reads ssl=true
  return parameters.get('sslmode') ?? short
}

function assertNotWeaker(mode: string, parameters: URLSearchParams): void {
  if (parameters.get('sslrootcert') === 'system' && mode !== 'verify-full')
    throw new Error('sslrootcert=system needs sslmode=verify-full')
  if (mode !== 'disable') return
  if (parameters.get('sslnegotiation') === 'direct')
    throw new Error('sslnegotiation=direct needs TLS, and sslmode=disable has none')
  if (parameters.get('channel_binding') === 'require')
    throw new Error('channel_binding=require needs TLS: add sslmode=verify-full')
}

/** The certificate of the service, its key, and the least version of TLS. */
function readCertificate(parameters: URLSearchParams): tls.ConnectionOptions {
  const cert = readParameter(parameters, 'sslcert')
  const key = readParameter(parameters, 'sslkey')
  const isTls13 = parameters.get('ssl_min_protocol_version') === 'TLSv1.3'
  return {
    ...(cert !== undefined && { cert }),
    ...(key !== undefined && { key }),
    ...(isTls13 && { minVersion: 'TLSv1.3' }),
  }
}

/** The trusted authorities. @param root a file, or `system` for those of the system */
function readRoots(root: string): string | string[] | undefined {
  if (root !== 'system') return readFileSync(root, 'utf8')
  const system = tls.getCACertificates('system')
  if (system.length === 0) return undefined // those of Node: the image has no others
  return [...system, ...tls.getCACertificates('extra')]
}

function readParameter(parameters: URLSearchParams, name: string): string | undefined {
  const file = parameters.get(name)
  return file === null || file === '' ? undefined : readFileSync(file, 'utf8')
}
