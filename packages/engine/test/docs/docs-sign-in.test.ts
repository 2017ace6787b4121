// The docs page signs in at a real provider, in a real browser, behind a gateway.
import http from 'node:http'
import { writeFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { generateTypes } from '../../../../test/support/inner/compiler.ts'
import { browser } from '../../../../test/support/browser/open-page.ts'
import { makeKey } from '../../../../test/support/identity/issuer.ts'
import { startService } from '../../../../test/support/processes/programs.ts'
import { freePort } from '../../../../test/support/network/ports.ts'
import {
  PAGE_CLIENT,
  SCOPE,
  startProvider,
} from '../../../../test/support/identity/openid-provider.ts'

const chromium = await browser(t, 'docs.example')

const contractOf = (issuer: string) => `openapi: 3.1.0
info: { title: Greetings, version: 1.0.0 }
security: [{ oauth: [${SCOPE}] }, { connect: [] }, { same: [${SCOPE}] }]
components:
  securitySchemes:
    oauth:
      type: oauth2
      flows: { authorizationCode: { authorizationUrl: '${issuer}/auth', tokenUrl: '${issuer}/token', scopes: { ${SCOPE}: Reads } } }
    same: { $ref: '#/components/securitySchemes/oauth' }
    connect: { type: openIdConnect, openIdConnectUrl: '${issuer}/.well-known/openid-configuration' }
paths:
  /hello:
    post:
      operationId: greet
      requestBody: { required: true, content: { application/json: { example: { name: 'Zoë' } } } }
      responses:
        '200': { description: A greeting, content: { application/json: { schema: { type: string } } } }
        default: { description: An error, content: { application/json: {} } }
`

/**
 * Starts the product, and a gateway with a path before it. @returns the address of the docs page
 */
async function serve(t: Test) {
  const gatewayPort = await freePort()
  const docs = `http://127.0.0.1:${gatewayPort}/garden/docs/`
  const provider = await startProvider(t, {
    keys: [await makeKey('RS256', 'a')],
    redirects: [`${docs}oauth2-redirect.html`],
  })
  const folder = t.testdir({
    'openapi.yaml': contractOf(provider.issuer),
    'main.ts': `import { defineProduct, start } from '@plant-store/engine'
import { contract } from './contract.gen.ts'
const greet = async ({ caller }) => ({ status: 200, body: caller })
await start(defineProduct({ name: 'greetings', contract, services: () => [{ greet }] }))`,
  })
  const generated = `${folder}/contract.gen.ts`
  writeFileSync(generated, await generateTypes(`${folder}/openapi.yaml`, generated, {}))
  const command = [process.execPath, `${folder}/main.ts`]
  const { port } = await startService(t, provider.environment, command)
  const gateway = http.createServer((request, response) => {
    const { url = '', method, headers } = request
    const path = url.slice('/garden'.length)
    const forwarded = http.request({ port, host: '127.0.0.1', path, method, headers })
    forwarded.on('response', (answer) => {
      response.writeHead(answer.statusCode ?? 0, answer.headers)
      answer.pipe(response)
    })
    request.pipe(forwarded)
  })
  gateway.listen(gatewayPort, '127.0.0.1')
  t.teardown(() => gateway.close().closeAllConnections())
  return { docs, provider }
}

/** Opens the docs page. @returns also the errors in its console */
async function open(t: Test, url: string) {
  const page = await chromium.newPage()
  t.teardown(() => page.close())
  const faults: string[] = []
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) faults.push(message.text())
  })
  page.on('pageerror', ({ message }) => faults.push(message))
  await page.goto(url)
  await page.click('.btn.authorize')
  return { page, faults }
}

/** Sends the example. @returns the text of the answer */
async function greet(page: Page): Promise<string | null> {
  await page.click('.btn-done')
  await page.click('.opblock-summary-control')
  await page.click('.try-out__btn')
  await page.click('.execute')
  return page.textContent('.live-responses-table .response .highlight-code code')
}

/** Signs in at the provider, in its window. */
async function signIn(page: Page, form: string): Promise<void> {
  const section = page.locator('.auth-container', { has: page.locator(form) }).last()
  await section.locator(form).fill(PAGE_CLIENT)
  await section.locator('.scopes label').last().click()
  const opened = page.waitForEvent('popup')
  await section.locator('.authorize').first().click()
  const popup = await opened
  await popup.fill('input[name=login]', 'zoe')
  await popup.fill('input[name=password]', 'any')
  await popup.click('button[type=submit]')
  const closed = popup.waitForEvent('close')
  await popup.getByRole('button', { name: 'Continue' }).click()
  await closed
  await page
    .locator('.dialog-ux button', { hasText: 'Logout' })
    .first()
    .waitFor({ timeout: 10_000 })
}

for (const form of ['#client_id_authorizationCode', '#client_id_authorization_code']) {
  t.test(`a person signs in with ${form}`, async (t) => {
    const { docs, provider } = await serve(t)
    const { page, faults } = await open(t, docs)
    await signIn(page, form)
    t.equal(await greet(page), `"${provider.issuer}#zoe"`)
    t.strictSame(faults, [])
  })
}

t.test('a token can be pasted beside it, and the request is shown in curl', async (t) => {
  const { docs, provider } = await serve(t)
  const { page, faults } = await open(t, docs)
  await page.locator('.auth-container', { hasText: 'oauth (token)' }).waitFor()
  const section = page.locator('.auth-container', { hasText: 'same (token)' })
  await section.locator('input').fill(await provider.issue())
  await section.locator('.authorize').first().click()
  t.equal(await greet(page), `"${provider.issuer}#program"`)
  const url = `${new URL('..', docs).href}hello`
  const command = await page.textContent('.curl')
  for (const part of [`'${url}'`, 'Authorization: Bearer', 'Zoë']) t.match(command, part)
  t.strictSame(faults, [])
})
