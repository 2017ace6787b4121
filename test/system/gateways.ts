// The gateways of deploy/, started before replicas of the service: where they listen, where the replicas are and where
// nginx may write is all that differs from the files there.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import type { Test } from 'tap'
import { NAME } from '../support/alerts.ts'
import { start } from '../support/process.ts'
import { eventually, freePort } from '../support/project.ts'
import { need } from './programs.ts'

/** Where a replica listens; without an admin port it is never ready. The files of deploy/ have two: one replica is both. */
export interface Upstream {
  readonly port: number
  readonly adminPort?: number
}

/** A gateway of deploy/. Its path prefix is `prefix`. */
export interface Gateway {
  readonly port: number
  /** What it has printed. */
  readonly printed: { readonly stdout: string; readonly stderr: string }
}

/** Starts nginx as `deploy/nginx.conf` says. @param access the directives for its log */
export async function startNginx(
  t: Test,
  upstreams: readonly Upstream[],
  prefix = '',
  access = 'access_log off;',
): Promise<Gateway> {
  need('nginx')
  const edit = (text: string, port: number, folder: string) => {
    const writable = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
      (each) => `${each}_temp_path ${folder}/${each};`,
    )
    return `daemon off; pid ${folder}/pid;\n${text}`
      .replace('http {', `http { ${access} ${writable.join(' ')}`)
      .replace('listen 8080', `listen 127.0.0.1:${port}`)
      .replace('location /garden/', `location ${prefix}/`)
  }
  return run(t, upstreams, 'nginx.conf', ['nginx', '-e', 'stderr', '-c'], edit)
}

/** Starts HAProxy as `deploy/haproxy.cfg` says. @param log the directives for its log */
export async function startHaproxy(t: Test, upstreams: readonly Upstream[], log = ''): Promise<Gateway> {
  need('haproxy')
  const edit = (text: string, port: number) =>
    text.replace('defaults\n', `defaults\n${log}`).replace('bind :8080', `bind 127.0.0.1:${port}`)
  return run(t, upstreams, 'haproxy.cfg', ['haproxy', '-db', '-f'], edit)
}

/** Both, by name. */
export const gateways = {
  nginx: (t: Test, upstreams: readonly Upstream[]) => startNginx(t, upstreams),
  HAProxy: (t: Test, upstreams: readonly Upstream[]) => startHaproxy(t, upstreams),
}

async function run(
  t: Test,
  upstreams: readonly Upstream[],
  file: string,
  command: readonly string[],
  edit: (text: string, port: number, folder: string) => string,
): Promise<Gateway> {
  const folder = mkdtempSync(`${tmpdir()}/plants-gateway-`)
  const port = await freePort()
  const text = upstreams
    .concat(upstreams)
    .reduce(
      (text, { port, adminPort = 1 }, index) =>
        text
          .replaceAll(`${NAME}-${index + 1}:3000 check port 3001`, `${NAME}-${index + 1}:3000 check port ${adminPort}`)
          .replaceAll(`${NAME}-${index + 1}:3000`, `127.0.0.1:${port}`),
      readFileSync(`deploy/${file}`, 'utf8'),
    )
  writeFileSync(`${folder}/${file}`, edit(text, port, folder))
  const gateway = await start(t, [...command, `${folder}/${file}`], {})
  t.teardown(async () => {
    gateway.child.kill('SIGTERM') // the workers of nginx end with it
    await gateway.ended
    rmSync(folder, { recursive: true })
  })
  const isUp = () => fetch(`http://127.0.0.1:${port}/`, { headers: { Connection: 'close' } }).then(() => true)
  await eventually(
    () => gateway.child.exitCode === null && isUp().catch(() => false),
    () => gateway.printed.stderr.slice(-500),
  )
  return { port, printed: gateway.printed }
}
