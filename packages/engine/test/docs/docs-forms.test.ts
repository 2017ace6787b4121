// The docs page sends forms with files, and bytes.
import { buffer } from 'node:stream/consumers'
import t, { type Test } from 'tap'
import { browser, open } from '../../../../test/support/browser/open-page.ts'
import { boot, type Run } from '../../../../test/support/contracts/serve-contract.ts'

const HOST = 'docs.example'
const chromium = await browser(t, HOST)

const YAML = `paths:
  /form:
    post:
      operationId: form
      requestBody:
        required: true
        content:
          multipart/form-data:
            schema:
              type: object
              properties:
                name: { type: string }
                tags: { type: array, items: { type: string } }
                file: { type: string, format: binary }
      responses: { '200': { description: Done, content: { application/json: {} } } }
  /bytes:
    post:
      operationId: bytes
      requestBody:
        required: true
        content: { application/octet-stream: { schema: { type: string, format: binary } } }
      responses: { '200': { description: Done, content: { application/json: {} } } }
`
const FILE = { name: 'a "b".bin', mimeType: 'image/x-any', buffer: Buffer.from([0, 255, 10]) }

/** Answers with the received body, the bytes of a file in hexadecimal digits. */
const run: Run = async ({ body }, id) => {
  if (id === 'bytes') {
    const bytes = await buffer(body as AsyncIterable<Uint8Array>)
    return { status: 200, body: bytes.toString('hex') }
  }
  const { file, ...fields } = body as { file: File }
  const bytes = Buffer.from(await file.arrayBuffer()).toString('hex')
  return { status: 200, body: { ...fields, file: [file.name, file.type, bytes] } }
}

/** Serves the contract, and opens the form of an operation. */
async function openForm(t: Test, id: string) {
  const app = await boot(t, {
    yaml: YAML,
    run,
    environment: { DOCS: 'on' },
  })
  const { port } = new URL(await app.listen({ host: '127.0.0.1', port: 0 }))
  const { page, faults } = await open(t, chromium, `http://${HOST}:${port}/docs/`)
  await page
    .locator('.opblock', { hasText: `/${id}` })
    .locator('.opblock-summary-control')
    .click()
  await page.click('.try-out__btn')
  await page.setInputFiles('input[type=file]', FILE)
  return {
    page,
    /** Sends the form. @returns the answer */
    send: async () => {
      await page.click('.execute')
      const answer = page.locator('.live-responses-table .highlight-code code').first()
      const shown = await answer.textContent()
      t.strictSame(faults, [])
      return shown
    },
  }
}

t.test('a form', async (t) => {
  const { page, send } = await openForm(t, 'form')
  await page.locator('tr', { hasText: 'name' }).locator('input[type=text]').first().fill('Zoë')
  const shown = await send()
  t.match(shown, 'Zoë')
  t.match(shown, '00ff0a')
  t.match(shown, 'image/x-any')
})

t.test('bytes', async (t) => {
  const { send } = await openForm(t, 'bytes')
  t.equal(await send(), '"00ff0a"')
})
