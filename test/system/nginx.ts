import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import net from 'node:net'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import type { Test } from 'tap'
import { start } from '../support/process.ts'
import { need } from './programs.ts'

/**
 * Starts nginx as `deploy/nginx.conf` says, before a service on a port.
 * @param access the directives for its log
 * @returns the port of nginx
 */
export async function startNginx(
  t: Test,
  service: number,
  prefix: string,
  access = 'access_log off;',
): Promise<number> {
  need('nginx')
  const folder = mkdtempSync(`${tmpdir()}/plants-nginx-`)
  const port = await freePort()
  // Where it may write is all that differs, beside the addresses.
  const writable = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (each) => `${each}_temp_path ${folder}/${each};`,
  )
  const text = readFileSync('deploy/nginx.conf', 'utf8')
    .replace('http {', `http { ${access} ${writable.join(' ')}`)
    .replace('listen 8080', `listen 127.0.0.1:${port}`)
    .replace('location /garden/', `location ${prefix}/`)
    .replaceAll(/plants-\d:3000/g, `127.0.0.1:${service}`)
  writeFileSync(`${folder}/nginx.conf`, text)
  const directives = `daemon off; pid ${folder}/pid;`
  const nginx = await start(t, ['nginx', '-e', 'stderr', '-c', `${folder}/nginx.conf`, '-g', directives], {})
  t.teardown(async () => {
    nginx.child.kill('SIGTERM') // its workers end with it
    await nginx.ended
    rmSync(folder, { recursive: true })
  })
  for (let tries = 0; tries < 200 && nginx.child.exitCode === null; tries++) {
    const socket = net.connect(port, '127.0.0.1')
    const isUp = await once(socket, 'connect').then(
      () => true,
      () => false,
    )
    socket.destroy()
    if (isUp) return port
    await new Promise((resolve) => setTimeout(resolve, 25))
  }
  throw new Error(`nginx does not listen: ${nginx.printed.stderr}`)
}

async function freePort(): Promise<number> {
  const server = net.createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  return address instanceof Object ? address.port : 0
}
