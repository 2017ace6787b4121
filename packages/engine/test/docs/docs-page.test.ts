// The docs page in a real browser: its content, its requests and its accessibility.
import axe, { type AxeResults } from 'axe-core'
import type { Page } from 'playwright-core'
import t from 'tap'
import { browser, execute, open } from '../../../../test/support/browser/open-page.ts'
import { build } from '../../../../test/support/servers/start-product.ts'
import { parse } from '../../../../test/support/inner/json.ts'
import { eventually } from '../../../../test/support/processes/eventually.ts'
import { serveHttp } from '../../../../test/support/network/ports.ts'
import { boot } from '../../../../test/support/contracts/serve-contract.ts'

const HOST = 'plants.example'
const chromium = await browser(t, HOST)

/** Integers beyond a `number`, wherever a contract can mention them. */
const INT64 = `paths:
  /x/{id}:
    put:
      operationId: run
      parameters:
        - { name: id, in: path, required: true, schema: { $ref: '#/components/schemas/Id' }, example: 9007199254740993 }
        - { name: a, in: query, schema: { type: integer, format: int64, default: 9007199254740995 } }
        - { name: b, in: query, schema: { type: integer, format: int64, enum: [9007199254740997, 9007199254740999] }, required: true }
        - { name: c, in: query, schema: { type: integer, format: int64 }, examples: { first: { value: 9007199254741001 } } }
        - { name: d, in: query, schema: { type: array, items: { type: integer, format: int64 } }, example: [9007199254741003, -9007199254741005] }
        - { name: e, in: query, schema: { type: array, items: { type: integer, format: int64, enum: [9007199254741007, 9007199254741009] }, default: [9007199254741009] } }
        - { name: f, in: header, schema: { type: integer, format: int64 }, example: 9007199254741011 }
      requestBody:
        required: true
        content: { application/json: { schema: { $ref: '#/components/schemas/Sent' } } }
      responses:
        '200': { description: Done, content: { application/json: {} } }
        '400': { description: Named, content: { application/json: { examples: { first: { value: { id: 9007199254741013 } } } } } }
        '401': { description: One, headers: { X-Id: { schema: { type: integer, example: 9007199254741015 } } }, content: { application/json: { example: [9007199254741017] } } }
  /y:
    post:
      operationId: named
      requestBody: { content: { application/json: { examples: { first: { value: { id: 9007199254741019 } } } } } }
      responses: { '200': { description: Done, content: { application/json: {} } } }
components:
  schemas:
    Id: { type: integer, format: int64, minimum: -9223372036854775808, maximum: 9223372036854775807 }
    Sent:
      properties:
        a: { type: integer, format: int64, default: 9007199254741021 }
        b: { type: integer, format: int64, enum: [9007199254741023, 9007199254741025] }
        c: { type: integer, format: int64, example: 9007199254741027 }
        d: { type: [integer, 'null'], format: int64, examples: [9007199254741029] }
        e: { type: integer, format: int64, const: 9007199254741031 }
        f: { type: array, items: { type: integer, format: int64, default: 9007199254741033 } }
        g: { type: string, default: '9007199254741035' }
    Bounds: { type: integer, exclusiveMinimum: 9007199254741037, exclusiveMaximum: 9107199254741039, multipleOf: 9007199254741041 }
`

/** Known violations of Swagger UI: its elements, as CSS selectors, by the rule of axe-core. */
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
  label: ['.body-param__text', '.parameters-col_description textarea'],
  'label-content-name-mismatch': ['.auth-btn-wrapper > .authorize'],
  'landmark-unique': ['.responses-table'],
  'nested-interactive': ['.opblock-summary-control'],
  region: ['.information-container'],
  'select-name': ['.examples-select-element', 'select[multiple]'],
}

t.test('a person tries all three operations in a browser, behind a gateway', async (t) => {
  const { app, token } = await build(t, { BASE_URL: 'https://api.example/plants' })
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
  const type = await page.textContent('#operations-transactions-deletePayout .parameter__type')
  t.equal(type, 'integer($int64)', 'the parameter of a path, by its reference')
  t.equal(await execute(page, 'deletePayout'), '404')
  t.strictSame(faults, [])
  if (process.env['SCREENSHOT'])
    await page.screenshot({ path: process.env['SCREENSHOT'], fullPage: true })
})

t.test('everybody can read the page, on a desktop and on a phone, light and dark', async (t) => {
  const { port } = await build(t, { BASE_URL: 'https://api.example/garden' })
  const devices = { desktop: { width: 1280, height: 800 }, phone: { width: 390, height: 844 } }
  const listed = Object.entries(OF_SWAGGER_UI).flatMap(([rule, elements]) =>
    elements.map((element) => `${rule} ${element}`),
  )
  const seen = new Set<string>()
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
      for (const violation of violations) seen.add(violation)
      const others = violations.filter((violation) => !listed.includes(violation))
      t.strictSame(others, [], `${device}, ${colorScheme}`)
    }
  }
  for (const violation of listed) t.ok(seen.has(violation), `${violation} is listed, but not found`)
})

/**
 * Finds integers beyond a `number`. All of them begin with 9: before an item of an enum stands its
 * index.
 */
const longIntegers = (text: string) => [...new Set(text.match(/-?9\d{15,}/g))].sort()

/** Unfolds everything on a page, and shows each body as an example or as a schema. */
const unfold = (tab: 'example' | 'model') => `
  for (const other of document.querySelectorAll('.tablinks[data-name="${tab}"]')) other.click()
  for (const folded of document.querySelectorAll('.json-schema-2020-12-expand-deep-button'))
    if (folded.textContent === 'Expand all') folded.click()
`
/** The text of a page, and the values of its fields. */
const SHOWN = `document.body.innerText +
  Array.from(document.querySelectorAll('input, textarea, option'), ({ value }) => value).join(' ')`

t.test('an int64 is exact where a person reads, sends and receives it', async (t) => {
  const app = await boot(t, {
    yaml: INT64,
    environment: { DOCS: 'on' },
  })
  const { port } = new URL(await app.listen({ host: '127.0.0.1', port: 0 }))
  const { page, faults } = await open(t, chromium, `http://${HOST}:${port}/docs/`)
  for (const summary of await page.locator('.opblock-summary-control').all()) await summary.click()
  for (const button of await page.locator('.try-out__btn').all()) await button.click()
  let shown: string[] = []
  const isWhole = async () => {
    const examples = await page.evaluate<string>(SHOWN)
    await page.evaluate(unfold('model'))
    const schemas = await page.evaluate<string>(SHOWN)
    await page.evaluate(unfold('example'))
    shown = longIntegers(examples + schemas)
    return shown.join() === longIntegers(INT64).join()
  }
  await eventually(isWhole, () => `${shown.join()}: all of the contract`, 20_000)

  await page.locator('.execute').first().click()
  const text = await page.locator('.live-responses-table .highlight-code code').textContent()
  t.strictSame(parse(text ?? ''), {
    path: { id: 9_007_199_254_740_993n },
    query: {
      a: 9_007_199_254_740_995n,
      b: 9_007_199_254_740_997n,
      c: 9_007_199_254_741_001n,
      d: [9_007_199_254_741_003n, -9_007_199_254_741_005n],
      e: [9_007_199_254_741_009n],
    },
    header: { f: 9_007_199_254_741_011n },
    body: {
      a: 9_007_199_254_741_021n,
      b: 9_007_199_254_741_023n,
      c: 9_007_199_254_741_027n,
      d: 9_007_199_254_741_029n,
      e: 9_007_199_254_741_031n,
      f: [9_007_199_254_741_033n],
      g: '9007199254741035',
    },
  })
  t.match(await page.textContent('.curl'), '/x/9007199254740993?a=9007199254740995&')
  t.strictSame(faults, ['Could not find component: JsonSchema_integer_int64']) // for items of a list
})

/** Servers of a document, of a path and of an operation, and the path of the service. */
const SERVERS: readonly (readonly [
  servers: string,
  of: 'all' | 'path' | 'operation',
  at: string,
])[] = [
  ['[{ url: https://api.example.com/v1 }, { url: https://test.example.com/v1 }]', 'all', '/v1'],
  ['[{ url: /v2/ }]', 'all', '/v2'],
  [
    '[{ url: "{base_url}/v3", variables: { base_url: { default: https://a.example } } }]',
    'all',
    '/v3',
  ],
  [
    '[{ url: "https://{at}/{v}", variables: { at: { default: a.b }, v: { default: v4 } } }]',
    'all',
    '/v4',
  ],
  ['[{ url: https://api.example.com/v5 }]', 'path', '/v5'],
  ['[{ url: https://api.example.com/v6 }]', 'operation', '/v6'],
]
for (const [servers, of, at] of SERVERS) {
  t.test(
    `the page tries this service, with the ${of === 'all' ? '' : `${of}'s `}servers ${servers}`,
    async (t) => {
      const line = (where: string, indent: number) =>
        where === of ? `${' '.repeat(indent)}servers: ${servers}\n` : ''
      const response =
        "responses: { '200': { description: Done, content: { application/json: {} } } }"
      const operation = `    get:\n${line('operation', 6)}      operationId: run\n      ${response}\n`
      const app = await boot(t, {
        yaml: `paths:\n  /x:\n${line('path', 4)}${operation}${line('all', 0)}`,
        environment: { DOCS: 'on' },
      })
      const gateway = await serveHttp(t, (request, response) => {
        request.url = request.url?.slice('/garden'.length)
        app.server.emit('request', request, response)
      })
      const { host } = new URL(gateway.replace('127.0.0.1', HOST))
      const { page, faults } = await open(t, chromium, `http://${host}/garden/docs`)
      await page.click('.opblock-summary-control')
      await page.click('.try-out__btn')
      await page.click('.execute')
      t.equal(await page.textContent('.live-responses-table .response-col_status >> nth=1'), '200')
      t.match(await page.textContent('.request-url'), `http://${host}/garden${at}/x`)
      t.notOk(await page.locator('select >> nth=0').locator('visible=true').count())
      t.strictSame(faults, [])
    },
  )
}

/** A picture of one pixel. */
const PICTURE =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const SEEN = `paths:
  /x: { get: { operationId: picture, responses: { '200': { description: Done, content: { image/png: {} } } } } }
  /y: { get: { operationId: events, responses: { '200': { description: Done, content: { text/event-stream: {} } } } } }
`

t.test('the page shows a picture, and each event as it comes until a person stops', async (t) => {
  const next = [Promise.withResolvers<string>(), Promise.withResolvers<string>()] as const
  let isOver = false
  async function* events() {
    try {
      yield { data: 'first' }
      yield { data: await next[0].promise }
      yield { data: await next[1].promise }
    } finally {
      isOver = true
    }
  }
  const app = await boot(t, {
    yaml: SEEN,
    run: async (_request, name) => ({
      status: 200,
      body: name === 'picture' ? Buffer.from(PICTURE, 'base64') : events(),
    }),
    environment: { DOCS: 'on' },
  })
  const { port } = new URL(await app.listen({ host: '127.0.0.1', port: 0 }))
  const { page, faults } = await open(t, chromium, `http://${HOST}:${port}/docs/`)
  for (const name of ['picture', 'events']) {
    await page.locator(`#operations-default-${name} .opblock-summary-control`).click()
    await page.locator(`#operations-default-${name} .try-out__btn`).click()
  }

  await page.locator('#operations-default-picture .execute').click()
  const isSeen = "document.querySelector('.live-responses-table img')?.naturalWidth === 1"
  await eventually(() => page.evaluate<boolean>(isSeen))

  await page.locator('#operations-default-events .execute').click()
  const shown = page.locator('#operations-default-events .live-responses-table .highlight-code')
  await shown.getByText('data: first').waitFor()
  t.equal(await page.locator('.loading-container').count(), 0)
  next[0].resolve('second')
  await shown.getByText('data: second').waitFor()
  await page.click('.stop-events')
  await page.locator('.stop-events').waitFor({ state: 'detached' })
  next[1].resolve('third')
  await eventually(() => isOver)
  t.match(await shown.textContent(), /first.*second/s)
  t.notMatch(await shown.textContent(), 'third')
  t.strictSame(
    faults.filter((fault) => !fault.startsWith('blob:')),
    [],
  )
})

interface Element {
  readonly matches: (selector: string) => boolean
}

/**
 * Checks a page by all rules of axe-core.
 * @param part a CSS selector
 * @returns `<rule> <selector of OF_SWAGGER_UI>` or, for any other element, `<rule> <element>:
 * <reason>`
 */
async function violationsOf(page: Page, part: string): Promise<string[]> {
  await page.evaluate(axe.source)
  const { violations } = await page.evaluate<AxeResults>(
    `axe.run('${part}', { resultTypes: ['violations'] })`,
  )
  const listedViolations = violations.flatMap(({ id, nodes }) =>
    nodes.map(async ({ target, html, failureSummary }) => {
      const find = (element: Element, selectors: readonly string[]) =>
        selectors.find((selector) => element.matches(selector))
      const selector = await page.locator(String(target)).evaluate(find, OF_SWAGGER_UI[id] ?? [])
      return `${id} ${selector ?? `${html}: ${String(failureSummary)}`}`
    }),
  )
  return [...new Set(await Promise.all(listedViolations))].sort()
}
