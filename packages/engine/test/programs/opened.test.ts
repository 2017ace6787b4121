// The product's resources: the tests' product has a database beside its store.
import { pino } from 'pino'
import t from 'tap'
import { defineProduct, type OpenContext, type Product } from '../../src/index.ts'
import { closeResources } from '../../src/programs/opened.ts'
import { openResources } from '@plant-store/engine/for-testing'
import { request, startOnNewFile } from '../../../../test/support/servers/start-product.ts'
import {
  linesOf,
  MAIN,
  program,
  run,
  start,
  startService,
} from '../../../../test/support/processes/programs.ts'
import { eventually } from '../../../../test/support/processes/eventually.ts'
import { product } from '../../../../test/support/product/product.ts'

const messagesOf = (stdout: string) => linesOf(stdout).map(({ msg }) => msg)

t.test('a method uses what open gives; metrics, probes and the end know it', async (t) => {
  const CHANGES_FILE = `${t.testdir()}/changes.db`
  const service = await startOnNewFile(t, { CHANGES_FILE, LOG_LEVEL: 'debug' })
  const { port, token, file } = service
  const note = { path: '/notes', method: 'POST', token, body: { key: 'a', text: 'a' } }
  t.equal((await request(port, note)).status, 200)
  const change = { path: '/notes/a', method: 'PUT', token }
  for (const _ of [1, 2]) t.equal((await request(port, change)).status, 200)
  t.equal((await request(port, { path: '/changes', token })).json, 2)
  const admin = `http://127.0.0.1:${service.adminPort}`
  t.match(await (await fetch(`${admin}/metrics`)).text(), /^plants_changes_total 2$/m)
  t.equal((await fetch(`${admin}/readyz`)).status, 200)
  service.child.kill('SIGTERM')
  const { code, stdout } = await service.ended
  t.equal(code, 0)
  t.strictSame(messagesOf(stdout).slice(-3), ['stopping', 'changes are closed', 'stopped'])

  const again = await startService(t, { CHANGES_FILE, DATABASE_URL: `sqlite:${file}` })
  t.equal((await request(again.port, { path: '/changes', token })).json, 2)
})

t.test('a fault of open is one line, and the start ends', async (t) => {
  const environment = { DATABASE_URL: `sqlite:${t.testdir()}/plants.db`, PORT: '0' }
  const wrong = { ...environment, CHANGES_FILE: '/proc/none/changes.db' }
  const { code, stdout, stderr } = await run(MAIN, wrong)
  t.strictSame({ code, stderr }, { code: 1, stderr: '' })
  t.match(linesOf(stdout).at(-1), {
    level: 60,
    msg: 'open of the product plants: unable to open database file',
  })
  t.notMatch(stdout, /listening/)
  const command = await run(program('token', 'issue', 'joe'), wrong)
  t.equal(command.code, 0, 'a command opens only the store')
})

const withOpen = (open: (context: OpenContext) => Promise<object>): Product => ({
  ...product,
  open,
})
const log = pino({ level: 'silent' })

t.test('an open that never ends is given up, with its name', async (t) => {
  const hanging = withOpen(() => new Promise(() => undefined))
  await t.rejects(openResources(hanging, log, 20), {
    name: 'StartupError',
    message: 'open of the product plants has not ended in 0.02 seconds',
  })
})

t.test('an open that gives no object is refused, with what it gives', async (t) => {
  for (const value of [undefined, null, false, 7, 'closed', () => undefined]) {
    const giving = { ...product, open: () => Promise.resolve(value as object) }
    await t.rejects(openResources(giving, log), {
      name: 'StartupError',
      message: `open of the product plants returned ${String(value)}: it must return an object, such as {}`,
    })
  }
})

t.test('a signal ends a start whose open hangs', async (t) => {
  const DATABASE_URL = `sqlite:${t.testdir()}/plants.db`
  const environment = { DATABASE_URL, PORT: '0', CHANGES_HANG: 'open', LOG_LEVEL: 'debug' }
  const { child, ended, until } = await start(t, MAIN, environment)
  await until(/new database/)
  child.kill('SIGTERM')
  const { code, stdout } = await ended
  t.equal(code, 0)
  t.equal(messagesOf(stdout).at(-1), 'stopped')
})

t.test('a check that hangs is not ready after a second; livez does not ask', async (t) => {
  const { adminPort } = await startOnNewFile(t, { CHANGES_HANG: 'check' })
  const answer = await fetch(`http://127.0.0.1:${adminPort}/readyz`)
  const message = 'The check of the product has failed: it took more than a second'
  t.strictSame([answer.status, await answer.json()], [503, { error: 503, message }])
  t.equal((await fetch(`http://127.0.0.1:${adminPort}/livez`)).status, 200)
})

t.test('a close that hangs holds up neither the store nor the end', async (t) => {
  const { child, ended } = await startOnNewFile(t, { CHANGES_HANG: 'close', SHUTDOWN_TIMEOUT: '0' })
  child.kill('SIGTERM')
  const { code, stdout } = await ended
  t.equal(code, 0)
  const last = ['stopping', 'close of the product has not ended in time', 'stopped']
  t.strictSame(messagesOf(stdout).slice(-3), last)
})

t.test('a second signal does not wait for close', async (t) => {
  const { child, ended, until } = await startOnNewFile(t, { CHANGES_HANG: 'close' })
  child.kill('SIGTERM')
  await until(/"msg":"stopping"/)
  // For half a second, a second signal counts as the first.
  await eventually(() => {
    child.kill('SIGTERM')
    return child.exitCode !== null
  })
  const { code, stdout } = await ended
  t.equal(code, 1)
  t.equal(messagesOf(stdout).at(-1), 'stopping')
})

t.test('a close that fails is logged', async (t) => {
  const lines: string[] = []
  const failing = withOpen(async () => ({ close: () => Promise.reject(new Error('gone')) }))
  const resources = await openResources(failing, log)
  const logged = pino({}, { write: (line: string) => void lines.push(line) })
  await closeResources(
    resources,
    logged,
    eventually(() => lines.length > 0),
  )
  t.match(lines.join(''), /"message":"gone"/)
})

t.test('each open has metrics of its own; a name can be taken once', async (t) => {
  const twice = withOpen(async ({ metrics }) => {
    for (const _ of [1, 2]) metrics.gauge({ name: 'open_things', help: 'Things' })
    return {}
  })
  await t.rejects(openResources(twice, log), { message: /open_things has already been registered/ })
  const labelled = withOpen(async ({ metrics }) => {
    metrics
      .histogram({ name: 'seconds', help: 'Time', labelNames: ['how'] })
      .observe({ how: 'x' }, 1)
    return {}
  })
  await openResources(labelled, log)
  const { metrics } = await openResources(labelled, log)
  t.match(await metrics.metrics(), /^plants_seconds_sum{how="x"} 1$/m)
})

t.test(
  'a metric with a name of the engine ends the start, and all of its names are known',
  async (t) => {
    const taking = (name: string) =>
      withOpen(async ({ metrics }) => ({ taken: metrics.counter({ name, help: 'Taken' }) }))
    await t.rejects(openResources(taking('store_things'), log), {
      name: 'StartupError',
      message:
        'open of the product plants: the metric plants_store_things is a built-in one: rename it',
    })
    const { adminPort } = await startOnNewFile(t)
    const text = await (await fetch(`http://127.0.0.1:${adminPort}/metrics`)).text()
    const names = [...text.matchAll(/^# TYPE plants_(\S+)/gm)].map(([, name = '']) => name)
    const own = names.filter((name) => name !== 'changes_total')
    t.ok(own.length >= 6, own.join())
    for (const name of own)
      await t.rejects(openResources(taking(name), log), /is a built-in one/, name)
    await openResources(taking('stores_total'), log)
  },
)

t.test('services know the type of what open gives', async () => {
  const { contract, store = () => Promise.reject(new Error()) } = product
  const open = async ({ env }: OpenContext) => ({ home: env['HOME'], close: () => undefined })
  const services = (home: string | undefined): [] => (home === '' ? [] : [])
  defineProduct({ name: 'a', contract, store, open, services: (_, own) => services(own.home) })
  defineProduct({
    name: 'a',
    contract,
    store,
    open: async ({ env }) => ({ home: env['HOME'] }),
    // @ts-expect-error `open` returns no `missing`.
    services: (_, { home, missing }) => [...services(home), ...services(missing)],
  })
  // A function with a name may stand anywhere.
  defineProduct({ name: 'a', contract, store, services: (_, own) => services(own.home), open })
  defineProduct({
    name: 'a',
    contract,
    store,
    // @ts-expect-error The type of `own` is known only below.
    services: (_, own) => services(own.home),
    // @ts-expect-error So `services` gets another type.
    open: async ({ env }) => ({ home: env['HOME'] }),
  })
})
