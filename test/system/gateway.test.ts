// The service behind a real nginx, as deploy/nginx.conf sets it up, which takes a path prefix off.
import http from 'node:http'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { browser, execute, open } from '../support/browser.ts'
import { build } from '../support/helper.ts'
import { startNginx } from './nginx.ts'

const HOST = 'plants.example'
const PREFIX = '/any/prefix'
const chromium = await browser(t, HOST)

/** The service, and the port of nginx before it. */
async function behindNginx(t: Test, environment: Record<string, string> = {}) {
  const service = await build(t, environment)
  return { ...service, gateway: await startNginx(t, service.port, PREFIX) }
}

t.test('a person tries all three operations in a browser', async (t) => {
  const { gateway, token } = await behindNginx(t)
  const { page, faults } = await open(t, chromium, `http://${HOST}:${gateway}${PREFIX}/docs`)
  t.equal(await page.title(), 'Plant Store')

  await page.click('.btn.authorize')
  await page.fill('.auth-container input', await token('visitor'))
  await page.click('.auth-btn-wrapper .authorize')
  await page.click('.btn-done')

  t.equal(await execute(page, 'createPayout'), '200')
  t.equal(await execute(page, 'getPayout'), '200')
  t.equal(await execute(page, 'deletePayout'), '204')
  t.equal(await execute(page, 'deletePayout'), '404')
  t.strictSame(faults, [])
})

t.test('the links of a list lead through all of it', async (t) => {
  const { gateway, store, token } = await behindNginx(t)
  const headers = { Authorization: `Bearer ${await token('lister')}` }
  const names = Array.from({ length: 10 }, (_, id) => `plant ${id}`)
  for (const [id, name] of names.entries()) await store.create('lister', BigInt(id), { name })
  const listed: unknown[] = []
  let url: URL | undefined = new URL(`http://127.0.0.1:${gateway}${PREFIX}/plants?limit=4`)
  while (url !== undefined) {
    const response: Response = await fetch(url, { headers })
    listed.push(...((await response.json()) as unknown[]))
    const [, next]: readonly (string | undefined)[] =
      /<(.*)>; rel="next"/.exec(response.headers.get('link') ?? '') ?? []
    url = next === undefined ? undefined : new URL(next, url)
  }
  t.strictSame(
    listed,
    names.map((name) => ({ name })),
  )
})

t.test('errors pass as they are', async (t) => {
  const { gateway } = await behindNginx(t)
  for (const [path, status] of [
    ['/plants', 401],
    ['/plants?limit=%zz', 401],
    ['/nowhere', 404],
  ] as const) {
    const response = await fetch(`http://127.0.0.1:${gateway}${PREFIX}${path}`)
    t.equal(response.status, status)
    t.match(await response.json(), { error: status, message: String })
    t.match(response.headers.get('x-request-id'), /^[0-9a-f-]{36}$/)
  }
})

t.test('the client is logged whom nginx names, if nginx is trusted', async (t) => {
  for (const [trusted, client] of [
    ['127.0.0.1', '127.0.0.7'],
    ['none', '127.0.0.1'],
  ] as const) {
    const { gateway, log } = await behindNginx(t, { TRUST_PROXY: trusted })
    const request = http.get({
      host: '127.0.0.1',
      localAddress: '127.0.0.7',
      port: gateway,
      path: `${PREFIX}/nowhere`,
      headers: { 'X-Forwarded-For': '192.0.2.1' },
    })
    const [response] = (await once(request, 'response')) as [http.IncomingMessage]
    await text(response)
    await delay(50)
    t.equal(log.find(({ msg }) => msg === 'request')?.['client'], client)
  }
})
