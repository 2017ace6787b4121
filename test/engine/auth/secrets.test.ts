// Looks for access tokens in the memory and in the log of the process.
import { existsSync, openSync, readFileSync, readSync } from 'node:fs'
import t from 'tap'
import { call } from '../../support/helper.ts'
import { program, run, startService } from '../../support/process.ts'
import { eventually } from '../../support/project.ts'

/** The secret part of an access token. */
const secretOf = (text: string) => /plant_(\w{40})\w{8}/.exec(text)?.[1] ?? 'no token'

/** Whether the memory of a process contains a text: https://man7.org/linux/man-pages/man5/proc.5.html */
function isInMemory(pid: number | undefined, text: string): boolean {
  const memory = openSync(`/proc/${pid}/mem`, 'r')
  const chunk = Buffer.alloc(1 << 24)
  for (const [, from = '', to = ''] of readFileSync(`/proc/${pid}/maps`, 'utf8').matchAll(/^(\w+)-(\w+) rw/gm)) {
    const end = parseInt(to, 16)
    // Chunks overlap, to find a text on the border of two chunks.
    for (let at = parseInt(from, 16); at < end; at += chunk.length - text.length) {
      if (chunk.subarray(0, readAt(memory, chunk, at, end)).includes(text)) return true
    }
  }
  return false
}

function readAt(memory: number, chunk: Buffer, at: number, end: number): number {
  try {
    return readSync(memory, chunk, 0, Math.min(chunk.length, end - at), at)
  } catch {
    return 0 // the process has freed this memory
  }
}

const skip = existsSync('/proc/self/mem') ? false : 'only Linux shows the memory of a process'

t.test('the memory of the service does not contain a token that it issued', { skip }, async (t) => {
  const file = `${t.testdir()}/plants.db`
  const { child, printed } = await startService(t, { DATABASE_URL: `sqlite:${file}`, NODE_ENV: 'development' })
  await eventually(() => printed.stderr.includes('/plants\n'))
  t.ok(isInMemory(child.pid, file), 'a text that is in memory is found')
  t.match(secretOf(printed.stderr), /^[0-9a-f]{40}$/)
  t.notOk(isInMemory(child.pid, secretOf(printed.stderr)), 'the token for "demo"')
})

t.test('the memory of the service does not contain a token that the command issued', { skip }, async (t) => {
  const environment = { DATABASE_URL: `sqlite:${t.testdir()}/plants.db`, NODE_ENV: 'production' }
  const { child, printed } = await startService(t, environment)
  const issued = await run(program('token', 'issue', 'joe'), environment)
  t.match(secretOf(issued.stdout), /^[0-9a-f]{40}$/)
  t.notOk(isInMemory(child.pid, secretOf(issued.stdout)))
  t.equal(printed.stderr, '')
})

t.test('no token is logged, at any level, in any part of a request', async (t) => {
  const environment = { DATABASE_URL: `sqlite:${t.testdir()}/plants.db`, NODE_ENV: 'production', LOG_LEVEL: 'trace' }
  const { port, printed } = await startService(t, environment)
  const issued = await run(program('token', 'issue', 'joe'), environment)
  const token = issued.stdout.trim()
  const wrong = token.replace(/.$/, (last) => (last === '0' ? '1' : '0'))
  for (const each of [token, wrong]) {
    const headers = { 'X-Request-Id': `a.${each}`, Referer: each, Cookie: each }
    await call(port, { path: `/plants?limit=${each}`, token: each, headers })
    await call(port, { path: `/plants?cursor=${each}`, headers })
    await call(port, { path: '/plants', headers: { Authorization: `Basic ${each}` } })
    await call(port, { path: `/${each}` })
    await call(port, { method: 'DELETE', path: `/plants/${each}`, token: each })
    await call(port, { method: 'POST', path: '/plants', token: each, body: `{"${each}":"${each}"` })
    await call(port, { method: 'POST', path: '/plants', token: each, body: { [each]: each } })
    await call(port, { path: '/plants', headers: ['Host', each, 'Host', each] })
  }
  await eventually(() => (printed.stdout.match(/"msg":"request"/g) ?? []).length === 16)
  t.notOk(printed.stdout.includes(secretOf(token)))
  t.equal(printed.stderr, '')
})
