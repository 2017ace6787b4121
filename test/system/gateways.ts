// The gateways of deploy/, started before replicas of the service: where they listen, where the replicas are and where
// nginx may write is all that differs from the files there.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import type { Test } from 'tap'
import { NAME } from '../support/figures/alert-series.ts'
import { request } from '../support/servers/start-product.ts'
import { start } from '../support/processes/programs.ts'
import { eventually } from '../support/processes/eventually.ts'
import { freePort } from '../support/network/ports.ts'
import { need } from './programs.ts'

/** Where replicas listen; without an admin port one is never ready. The files of deploy/ have two: one replica is both. */
type Upstreams = readonly { readonly port: number; readonly adminPort?: number }[]

/** Starts nginx as `deploy/nginx.conf` says. @param log the directives for it */
export async function startNginx(
  t: Test,
  upstreams: Upstreams,
  log = 'access_log off;',
  prefix = '',
) {
  need('nginx')
  const edit = (text: string, port: number, folder: string) => {
    const places = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    const writable = places.map((place) => `${place}_temp_path ${folder}/${place};`).join(' ')
    return `daemon off; pid ${folder}/pid;\n${text}`
      .replace('http {', `http { ${log} ${writable}`)
      .replace('listen 8080', `listen 127.0.0.1:${port}`)
      .replace('~^/garden(', `~^${prefix}(`)
  }
  const command = ['nginx', '-e', 'stderr', '-c']
  return run(t, upstreams, { file: 'nginx.conf', command, edit })
}

/** Starts HAProxy as `deploy/haproxy.cfg` says. @param log the directives for it */
export async function startHaproxy(t: Test, upstreams: Upstreams, log = '') {
  need('haproxy')
  const edit = (text: string, port: number) =>
    text.replace('defaults\n', `defaults\n${log}`).replace('bind :8080', `bind 127.0.0.1:${port}`)
  const command = ['haproxy', '-db', '-f']
  return run(t, upstreams, { file: 'haproxy.cfg', command, edit })
}

/** Both, by name. */
export const gateways = { nginx: startNginx, HAProxy: startHaproxy }

interface Gateway {
  /** Its configuration in `deploy/`. */
  readonly file: string
  /** Its command, up to the name of the configuration. */
  readonly command: readonly string[]
  /** Makes the configuration one for this machine. */
  readonly edit: (text: string, port: number, folder: string) => string
}

async function run(t: Test, upstreams: Upstreams, { file, command, edit }: Gateway) {
  const folder = mkdtempSync(`${tmpdir()}/plants-gateway-`)
  const port = await freePort()
  let text = readFileSync(`deploy/${file}`, 'utf8')
  for (const [index, { port, adminPort = 1 }] of [...upstreams, ...upstreams].entries()) {
    const name = `${NAME}-${index + 1}:3000`
    text = text.replaceAll(`${name} check port 3001`, `${name} check port ${adminPort}`)
    text = text.replaceAll(name, `127.0.0.1:${port}`)
  }
  writeFileSync(`${folder}/${file}`, edit(text, port, folder))
  const { child, ended, printed } = await start(t, [...command, `${folder}/${file}`], {})
  t.teardown(async () => {
    child.kill('SIGTERM') // the workers of nginx end with it
    await ended
    rmSync(folder, { recursive: true })
  })
  await eventually(
    async () =>
      child.exitCode === null &&
      (await request(port, { path: '/' }).catch(() => undefined)) !== undefined,
    () => printed.stderr.slice(-500),
  )
  return { port, printed }
}
