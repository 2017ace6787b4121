import { randomInt } from 'node:crypto'
import fs, { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import http from 'node:http'
import net from 'node:net'
import { networkInterfaces } from 'node:os'
import { resolve } from 'node:path'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import type { Test } from 'tap'

/** What npm needs of the environment to reach a registry: its proxy, certificates and settings. */
const REGISTRY =
  /^(HOME|NODE_EXTRA_CA_CERTS|SSL_CERT_\w+|(https?|no)_proxy|npm_config_(cache|registry))$/i
export const FOR_REGISTRY: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(process.env).flatMap(([name, value = '']) =>
    REGISTRY.test(name) ? [[name, value]] : [],
  ),
)
const settings = Object.entries(FOR_REGISTRY).map(([name, value]) => `${name}=${value}`)
/** npm without tap's hooks: nobody needs the coverage of a copy, and Node 26 crashes when it measures linters. */
export const NPM = ['env', '-u', 'NODE_OPTIONS', ...settings, 'npm']

/** Whether this machine has the address ::1. */
export const hasIpv6 = Object.values(networkInterfaces()).some((addresses) =>
  addresses?.some(({ address }) => address === '::1'),
)

/** Copies the project, so that a test can change its files. The packages are shared. @returns the folder of the copy */
export function copyProject(t: Test): string {
  // With this, tap removes the folder after the teardowns, which end the processes that write to it.
  t.teardown(() => undefined)
  const folder = t.testdir()
  const ignored = ['.git', ...readFileSync('.gitignore', 'utf8').split(/\/?\n/)]
  for (const name of readdirSync('.').filter((entry) => !ignored.includes(entry))) {
    fs.cpSync(name, `${folder}/${name}`, { recursive: true, preserveTimestamps: true })
  }
  linkPackages(folder)
  return folder
}

/** Links the packages into a copy of the project. Ours are those of the copy. */
function linkPackages(folder: string): void {
  const target = `${folder}/node_modules`
  fs.mkdirSync(`${target}/@plant-store`, { recursive: true })
  for (const name of readdirSync('node_modules').filter((entry) => entry !== '@plant-store'))
    fs.symlinkSync(resolve('node_modules', name), `${target}/${name}`)
  for (const name of readdirSync('node_modules/@plant-store'))
    fs.symlinkSync(`../../packages/${name}`, `${target}/@plant-store/${name}`)
}

/** Puts the tests' product into a copy of the project, in the place of its own. */
export function putTestProduct(folder: string): void {
  const from = 'test/support/product'
  // The classes of a product have any names. The programs stay.
  const others = readdirSync('service').filter(
    (name) => name.endsWith('.ts') && !existsSync(`${from}/${name}`),
  )
  for (const name of others) fs.rmSync(`${folder}/service/${name}`, { force: true })
  fs.copyFileSync(`${from}/openapi.yaml`, `${folder}/openapi.yaml`)
  fs.rmSync(`${folder}/.redocly.lint-ignore.yaml`, { force: true }) // it is about another contract
  for (const name of ['product', 'plant-service', 'note-service', 'changes', 'contract.gen']) {
    const text = readFileSync(`${from}/${name}.ts`, 'utf8').replace(
      "'./openapi.yaml'",
      "'../openapi.yaml'",
    )
    writeFileSync(`${folder}/service/${name}.ts`, text.replaceAll('../../../service/', './'))
  }
}

/** A port that was free a moment ago, outside of the range from which systems choose the ports of connections. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(10_000, 32_000)
    const server = net.createServer().listen(port, '127.0.0.1')
    const listening = await once(server, 'listening').catch(() => undefined)
    if (listening === undefined) continue
    server.close()
    await once(server, 'close')
    return port
  }
}

/** Serves HTTP on a port of its own until the test ends. @returns its origin */
export async function serveHttp(t: Test, answer: http.RequestListener): Promise<string> {
  const server = http.createServer(answer)
  t.teardown(() => server.close().closeAllConnections())
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return `http://127.0.0.1:${(server.address() as net.AddressInfo).port}`
}

/** Opens a connection to a port of this machine. @returns also the text that has come, and a promise of the end */
export async function connect(t: Test, port: number) {
  const socket = net.connect(port, '127.0.0.1').setEncoding('utf8')
  t.teardown(() => socket.destroy())
  const state = { text: '', error: '', isEnded: false }
  socket
    .on('data', (text: string) => (state.text += text))
    .on('error', ({ message }) => (state.error = message))
  socket.on('end', () => (state.isEnded = true))
  const closed = new Promise((resolve) => socket.once('close', resolve))
  await once(socket, 'connect')
  return { socket, state, closed }
}

/**
 * Waits until a condition is true.
 * @param timeout in milliseconds: by default, more than any machine needs, and less than it takes tap to end the test
 */
export async function eventually(
  isSo: () => boolean | Promise<boolean>,
  report = () => String(isSo),
  timeout = 500_000,
): Promise<void> {
  for (const end = performance.now() + timeout; performance.now() < end;) {
    if (await isSo()) return
    await delay(20)
  }
  throw new Error(`not in ${timeout / 1000} seconds: ${report()}`)
}
