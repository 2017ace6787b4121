// The user, the files, the ports and the health check in the Dockerfile. test/system/release/image.test.ts builds and runs it.
import { readFileSync } from 'node:fs'
import t from 'tap'
import { readConfig } from '../service/engine/config.ts'
import { run } from './support/process.ts'
import { freePort, serveHttp } from './support/project.ts'

const { PORT, ADMIN_PORT } = readConfig('plants', {})

/** The instructions of both stages, as `<name> <words>`. */
const [building = [], instructions = []] = readFileSync('Dockerfile', 'utf8')
  .replaceAll(/^#.*\n/gm, '')
  .replaceAll('\\\n', ' ')
  .split(/^(?=FROM )/m)
  .filter((stage) => stage.startsWith('FROM '))
  .map((stage) => stage.split('\n').filter((line) => line !== ''))

const all = (name: string) => instructions.filter((line) => line.startsWith(`${name} `))

/** Runs the command of the HEALTHCHECK. @returns its exit code */
async function check(environment: Record<string, string>): Promise<number | null> {
  const [, command = '[]'] = /CMD (\[.*\])$/.exec(all('HEALTHCHECK')[0] ?? '') ?? []
  const [node, ...words]: string[] = JSON.parse(command)
  t.equal(node, 'node')
  return (await run([process.execPath, ...words], environment)).code
}

t.test('the image runs as a user who is not root, and can only write the data', async (t) => {
  t.strictSame(all('USER'), ['USER 1000:1000'])
  const copies = all('COPY').filter((line) => line.includes('/app'))
  t.strictSame(copies, [
    'COPY --from=build --chown=0:0 /app /app',
    'COPY --from=build --chown=1000:1000 /data /app/data',
  ])
  t.strictSame(all('VOLUME'), ['VOLUME /app/data'])
  t.strictSame(all('RUN'), [], 'there is no shell')
})

t.test('the user of the image can read the program, whatever permissions the clone has', async (t) => {
  const copied = building.findLastIndex((line) => line.startsWith('COPY '))
  t.equal(building[copied + 1], 'RUN chmod -R a+rX .')
  t.ok(building.findIndex((line) => line.startsWith('USER ')) > copied + 1)
})

t.test('the image and the service have the same ports', async (t) => {
  t.strictSame(all('EXPOSE'), [`EXPOSE ${PORT} ${ADMIN_PORT}`])
  t.match(all('HEALTHCHECK')[0], `process.env.ADMIN_PORT || ${ADMIN_PORT}}`)
  t.notOk(all('ENV').some((line) => /\b(ADMIN_)?PORT=/.test(line)))
})

t.test('the health check asks the admin port for /livez, and nothing else', async (t) => {
  let live = 200
  const origin = await serveHttp(t, ({ url }, response) => response.writeHead(url === '/livez' ? live : 503).end())
  const { port: ADMIN_PORT } = new URL(origin)
  t.equal(await check({ ADMIN_PORT }), 0, 'even if the service is not ready')
  for (const status of [503, 500, 404]) {
    live = status
    t.equal(await check({ ADMIN_PORT }), 1)
  }
  t.equal(await check({ ADMIN_PORT: String(await freePort()), PORT: ADMIN_PORT }), 1, 'at another port it fails')
})
