import axe, { type AxeResults } from 'axe-core'
import type { Page } from 'playwright-core'
import t from 'tap'
import { readConfig } from '../../../service/engine/config.ts'
import { serveDocs } from '../../../service/engine/contract/docs.ts'
import { browser, execute, open } from '../../support/browser.ts'
import { build } from '../../support/helper.ts'
import { parse } from '../../support/json.ts'
import { serveHttp } from '../../support/project.ts'
import { boot } from '../../support/small.ts'

const HOST = 'plants.example'
const chromium = await browser(t, HOST)

/** An operation with int64 in its path and its body. */
const INT64 = `paths:
  /x/{id}:
    put:
      operationId: run
      parameters: [{ name: id, in: path, required: true, schema: { $ref: '#/components/schemas/Id' }, example: 9007199254740995 }]
      requestBody: { content: { application/json: { schema: { properties: { id: { $ref: '#/components/schemas/Id' } }, additionalProperties: false }, example: { id: 9007199254740993 } } } }
      responses: { '200': { description: Done, content: { application/json: {} } } }
components: { schemas: { Id: { type: integer, format: int64, minimum: -9223372036854775808, maximum: 9223372036854775807 } } }
`

/** The violations that are Swagger UI's own: its elements, as CSS selectors, by the rule of axe-core. */
const OF_SWAGGER_UI: Readonly<Record<string, readonly string[]>> = {
  'button-name': ['.close-modal'],
  'color-contrast': [
    ...[
      '.version',
      '.url',
      '.info__license__url > a',
      '.authorize > span',
      '.auth-btn-wrapper > .authorize',
    ],
    ...[
      '.opblock-summary-method',
      '.try-out__btn.cancel',
      '.opblock-put .try-out__btn, .opblock-put h4',
      '.execute',
    ],
    ...['.microlight span', '.parameter__in', '.json-schema-2020-12__constraint--string'],
  ],
  'heading-order': ['.opblock-tag', '.modal-ux-header > h3'],
  label: ['.body-param__text'],
  'label-content-name-mismatch': ['.auth-btn-wrapper > .authorize'],
  'landmark-unique': ['.responses-table'],
  'nested-interactive': ['.opblock-summary-control'],
  region: ['.information-container'],
  'select-name': ['.examples-select-element', 'select[multiple]'],
}

t.test('a person tries all three operations in a browser, behind a gateway', async (t) => {
  const { app, token } = await build(t)
  const gateway = await serveHttp(t, (request, response) => {
    request.url = request.url?.slice('/garden'.length)
    app.server.emit('request', request, response)
  })
  const { page, faults } = await open(
    t,
    chromium,
    `http://${HOST}:${new URL(gateway).port}/garden/docs`,
  )
  t.equal(await page.title(), 'Plant Store')

  await page.click('.btn.authorize')
  t.match(
    await page.textContent('.auth-container'),
    'Paste the token only; npm run token -- issue <name> prints one.',
  )
  await page.fill('.auth-container input', await token('visitor'))
  await page.click('.auth-btn-wrapper .authorize')
  await page.click('.btn-done')
  for (const nothing of ['.topbar', '.servers'])
    t.equal(await page.locator(nothing).isVisible(), false, nothing)

  t.equal(await execute(page, 'createPayout'), '200')
  t.equal(await execute(page, 'getPayout'), '200')
  t.match(
    await page.textContent('#operations-transactions-getPayout .live-responses-table .microlight'),
    'Monstera',
  )
  t.equal(await execute(page, 'deletePayout'), '204')
  t.equal(await execute(page, 'deletePayout'), '404')
  t.strictSame(faults, [])
  if (process.env['SCREENSHOT'])
    await page.screenshot({ path: process.env['SCREENSHOT'], fullPage: true })
})

t.test('everybody can read the page, on a desktop and on a phone, light and dark', async (t) => {
  const { port } = await build(t, { BASE_URL: 'https://api.example/garden' })
  const devices = { desktop: { width: 1280, height: 800 }, phone: { width: 390, height: 844 } }
  const listed = Object.entries(OF_SWAGGER_UI).flatMap(([rule, elements]) =>
    elements.map((each) => `${rule} ${each}`),
  )
  const found = new Set<string>()
  for (const colorScheme of ['light', 'dark'] as const) {
    for (const [device, viewport] of Object.entries(devices)) {
      const url = `http://${HOST}:${port}/docs/`
      const { page } = await open(t, chromium, url, {
        colorScheme,
        viewport,
        isMobile: device === 'phone',
      })
      await page.locator('.btn.authorize').waitFor()
      t.equal(await page.locator('html.dark-mode').count(), colorScheme === 'dark' ? 1 : 0)
      for (const operation of await page.locator('.opblock-summary-control').all())
        await operation.click()
      await page.locator('.try-out__btn').first().click()
      t.equal(await page.evaluate('document.documentElement.scrollWidth'), viewport.width, device)
      const violations = await violationsOf(page, 'html')
      await page.click('.btn.authorize')
      violations.push(...(await violationsOf(page, '.dialog-ux')))
      for (const each of violations) found.add(each)
      const others = violations.filter((each) => !listed.includes(each))
      t.strictSame(others, [], `${device}, ${colorScheme}`)
    }
  }
  for (const each of listed) t.ok(found.has(each), `${each} is listed, but not found`)
})

t.test('an int64 is exact where a person sends and receives it', async (t) => {
  const app = await boot(t, {
    yaml: INT64,
    run: async ({ path, body }) => ({ status: 200, body: { path, body } }),
    prepare: (app, contract) => serveDocs(app, contract, readConfig('plants', {})),
  })
  const { port } = new URL(await app.listen({ host: '127.0.0.1', port: 0 }))
  const { page, faults } = await open(t, chromium, `http://${HOST}:${port}/docs/`)
  await page.click('.opblock-summary-control')
  await page.click('.try-out__btn')
  await page.fill('.parameters input', '9007199254740995')
  await page.fill('.body-param__text', '{"id": 9007199254740993}')
  await page.click('.execute')
  const answer = { path: { id: 9_007_199_254_740_995n }, body: { id: 9_007_199_254_740_993n } }
  const text = await page.locator('.live-responses-table .highlight-code code').textContent()
  t.strictSame(parse(text ?? ''), answer)
  t.match(await page.textContent('.curl'), '/x/9007199254740995')
  t.strictSame(faults, [])
})

interface Element {
  readonly matches: (selector: string) => boolean
}

/**
 * Checks what a page shows now by all rules of axe-core.
 * @param part a CSS selector
 * @returns `<rule> <selector of OF_SWAGGER_UI>` or, for any other element, `<rule> <element>: <reason>`
 */
async function violationsOf(page: Page, part: string): Promise<string[]> {
  await page.evaluate(axe.source)
  const { violations } = await page.evaluate<AxeResults>(
    `axe.run('${part}', { resultTypes: ['violations'] })`,
  )
  const found = violations.flatMap(({ id, nodes }) =>
    nodes.map(async ({ target, html, failureSummary }) => {
      const find = (element: Element, selectors: readonly string[]) =>
        selectors.find((each) => element.matches(each))
      const known = await page.locator(String(target)).evaluate(find, OF_SWAGGER_UI[id] ?? [])
      return `${id} ${known ?? `${html}: ${String(failureSummary)}`}`
    }),
  )
  return [...new Set(await Promise.all(found))].sort()
}
