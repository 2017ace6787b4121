import { writeFileSync } from 'node:fs'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import type { Test } from 'tap'
import { assertDocumented } from '../contracts/product-contract.ts'

/** Starts a real Chromium, and closes it when the test ends. @param host a name that means 127.0.0.1 */
export async function browser(t: Test, host: string): Promise<Browser> {
  // Unpacks it, with its libraries and fonts, to a folder of this run.
  const folder = t.testdir()
  process.env['TMPDIR'] = folder
  process.env['AWS_LAMBDA_JS_RUNTIME'] = 'nodejs24.x'
  const { default: binary } = await import('@sparticuz/chromium')
  const executablePath = await binary.executablePath()
  const fonts = `<fontconfig><dir>${folder}/fonts</dir><cachedir>${folder}/cache</cachedir></fontconfig>`
  writeFileSync(`${folder}/fonts/fonts.conf`, fonts)
  const args = ['--no-sandbox', `--host-resolver-rules=MAP ${host} 127.0.0.1`]
  const started = await chromium.launch({ executablePath, args })
  t.teardown(() => started.close())
  return started
}

/** Opens a page. @returns also its faults: the reports of its console, and its requests to other hosts */
export async function open(
  t: Test,
  chromium: Browser,
  url: string,
  options: BrowserContextOptions = {},
) {
  const page = await chromium.newPage(options)
  t.teardown(() => page.close())
  const faults: string[] = []
  page.on('console', (message) => {
    const isAnswer = message.text().includes('404') && message.location().url.endsWith('/plants/7')
    if (['error', 'warning'].includes(message.type()) && !isAnswer) faults.push(message.text())
  })
  page.on('pageerror', ({ message }) => faults.push(message))
  page.on('request', (request) => {
    const { protocol, host } = new URL(request.url())
    if (protocol !== 'data:' && host !== new URL(url).host) faults.push(request.url())
  })
  await page.goto(url)
  return { page, faults }
}

/** Sends an operation's example from its form. @returns the status of the answer */
export async function execute(page: Page, operationId: string): Promise<string | undefined> {
  const form = page.locator(`#operations-transactions-${operationId}`)
  if (!(await form.locator('.execute').isVisible())) {
    await form.locator('.opblock-summary').click()
    await form.locator('.try-out__btn').click()
  }
  const answered = page.waitForResponse((response) => response.url().includes('/plants'))
  await form.locator('.execute').click()
  const answer = await answered
  await answer.finished()
  await form.locator('.live-responses-table .response-col_status').last().waitFor()
  const [status, url] = [answer.status(), /\/plants([/?].*)?$/.exec(answer.url())?.[0] ?? '']
  const text = status === 204 ? '' : await answer.text()
  const { server: _ofTheGateway, ...headers } = await answer.allHeaders()
  assertDocumented(answer.request().method(), url, { status, headers, text })
  return status.toString()
}
