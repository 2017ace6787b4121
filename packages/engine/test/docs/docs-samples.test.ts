// The samples that the docs page shows of requests whose bodies are no text: those in JavaScript are run.
import { buffer } from 'node:stream/consumers'
import t, { type Test } from 'tap'
import { browser, open } from '../../../../test/support/browser/open-page.ts'
import { parse } from '../../../testing/src/json/json.ts'
import { run as runCommand } from '../../../../test/support/processes/programs.ts'
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

/** Answers what came, with the bytes of a file in hexadecimal digits. */
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
    /** Sends the form. @returns the answer, and the samples by language */
    send: async () => {
      await page.click('.execute')
      const answer = page.locator('.live-responses-table .highlight-code code').first()
      const samples: Record<string, string> = {}
      const text = (await answer.textContent()) ?? ''
      for (const language of ['cURL', 'JavaScript', 'Python']) {
        await page.locator('.request-snippets').getByText(language, { exact: true }).click()
        samples[language] = (await page.textContent('.request-snippets pre')) ?? ''
      }
      t.strictSame(faults, [])
      return { text, samples }
    },
  }
}

/** Runs a sample beside the file. @returns what it prints */
async function runSample(t: Test, sample = ''): Promise<string> {
  const folder = t.testdir({ [FILE.name]: FILE.buffer })
  const code = sample.replace(HOST, '127.0.0.1')
  const command = [process.execPath, '--input-type=module', '--eval', code]
  const { stdout, stderr } = await runCommand(command, {}, folder)
  t.equal(stderr, '')
  return stdout
}

t.test('a form', async (t) => {
  const { page, send } = await openForm(t, 'form')
  await page.locator('tr', { hasText: 'name' }).locator('input[type=text]').first().fill('Zoë')
  const { text, samples } = await send()
  t.match(text, 'Zoë')
  const [, printed = ''] = (await runSample(t, samples['JavaScript'])).split(/^200 /)
  t.strictSame(parse(printed), parse(text))
  t.match(samples['Python'], '("name", (None, "Zoë")),')
  t.match(samples['Python'], String.raw`open("a \"b\".bin", "rb"), "image/x-any")),`)
  for (const sample of [samples['JavaScript'], samples['Python']])
    t.notMatch(sample, 'multipart', 'the boundary is not known')
})

t.test('bytes', async (t) => {
  const { send } = await openForm(t, 'bytes')
  const { text, samples } = await send()
  t.equal(text, '"00ff0a"')
  t.equal(await runSample(t, samples['JavaScript']), `200 ${text}\n`)
  t.match(samples['Python'], String.raw`data=open("a \"b\".bin", "rb"),`)
  t.match(samples['Python'], '"Content-Type": "application/octet-stream"')
})
