import { writeFileSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'
import type { Test } from 'tap'

/** Starts a real Chromium, which closes itself. @param host a name that leads to 127.0.0.1 in it */
export async function browser(t: Test, host: string): Promise<Browser> {
  // Unpacked where no other run is, with the libraries and fonts that a small machine has not.
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
