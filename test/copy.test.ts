import { existsSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { copyStore } from '../service/copy.ts'
import { type Entry, type Store } from '../service/store/store.ts'
import { startPostgres } from './support/postgres.ts'
import { run, start } from './support/process.ts'
import { openStore } from '../service/store/open.ts'
import { issueToken } from './support/tokens.ts'

const server = await startPostgres(t)
const COPY = [process.execPath, 'service/copy.ts']
const range = (length: number) => Array.from({ length }, (_, index) => index)

async function entriesOf(store: Store): Promise<Entry[]> {
  const all: Entry[] = []
  for (let some = await store.entries(); some.length > 0; some = await store.entries(some.at(-1))) all.push(...some)
  return all
}

/** Makes a file with plants of many owners, and an empty database. */
async function prepare(t: Test, count: number) {
  const file = `${t.testdir()}/plants.db`
  const store = await openStore({ file })
  const owners = ['', 'joe', 'Joe', 'jöe', '植', '\u{10FFFF}']
  const texts = ['a', '👩‍🌾🏽\u0001"\\', '\u212B Å', '\u{10FFFF}\uFFFF', 'x'.repeat(255)]
  const of = <Item>(items: readonly Item[], index: number) => items.slice(index % items.length)[0]
  const ids = [-(2n ** 63n), 2n ** 63n - 1n, 2n ** 53n + 1n]
  await Promise.all(
    range(count).map((index) =>
      store.create(of(owners, index) ?? '', ids[Math.floor(index / owners.length)] ?? BigInt(index), {
        name: of(texts, index) ?? '',
        ...(index % 2 === 0 && { tag: of(texts, index + 1) ?? '' }),
      }),
    ),
  )
  for (const caller of ['joe', 'ann']) await issueToken(store, caller)
  await issueToken(store, 'short', 1000)
  await issueToken(store, 'ever', Infinity)
  const kept = { entries: await entriesOf(store), tokens: await store.listTokens() }
  await store.close()
  return { file, url: await server.createDatabase(), kept }
}

const copy = (file: string, url: string) => run([...COPY, `sqlite:${file}`], { DATABASE_URL: url })

async function holds(t: Test, url: string, kept: { entries: unknown; tokens: unknown }): Promise<void> {
  const store = await openStore({ url })
  t.strictSame(await entriesOf(store), kept.entries)
  t.strictSame(await store.listTokens(), kept.tokens)
  await store.close()
}

t.test('plants and tokens are copied exactly, and a second copy changes nothing', async (t) => {
  const { file, url, kept } = await prepare(t, 1300)
  t.equal(kept.entries.length, 1300)
  const done = { code: 0, signal: null, stdout: '1300 plants and 4 tokens are copied\n', stderr: '' }
  for (let round = 0; round < 2; round++) t.strictSame(await copy(file, url), done)
  await holds(t, url, kept)
})

t.test('a copy that was interrupted can be run again', async (t) => {
  const { file, url, kept } = await prepare(t, 20_000)
  const { child, ended } = await start(t, [...COPY, `sqlite:${file}`], { DATABASE_URL: url })
  const copied = async () => {
    const [row] = await server.sql('SELECT count(*)::int AS plants FROM plants', url).catch(() => [])
    return Number(row?.['plants'] ?? 0)
  }
  while ((await copied()) === 0) await delay(5)
  child.kill('SIGKILL')
  t.equal((await ended).signal, 'SIGKILL')
  const before = await copied()
  t.ok(before > 0 && before < 20_000, `after ${before}`)
  t.equal((await copy(file, url)).code, 0)
  await holds(t, url, kept)
})

t.test('a plant that differs in the target is named, and not changed', async (t) => {
  const { file, url } = await prepare(t, 100)
  const store = await openStore({ url })
  await store.create('joe', 2n ** 63n - 1n, { name: 'another' })
  t.match(await copy(file, url), {
    code: 1,
    stdout: '',
    stderr: 'the plant 9223372036854775807 of "joe" differs\n',
  })
  t.strictSame(await store.find('joe', 2n ** 63n - 1n), { name: 'another' })
  await store.delete('joe', 2n ** 63n - 1n)
  await store.create('bob', 1n, { name: 'more' })
  t.match(await copy(file, url), { code: 0, stdout: '100 plants and 4 tokens are copied\n' })
  t.strictSame(await store.find('bob', 1n), { name: 'more' }, 'other rows are not changed')
  await store.close()
})

t.test('a token that differs is named', async (t) => {
  const { file, url } = await prepare(t, 1)
  const [from, to] = [await openStore({ file }), await openStore({ url })]
  const [token] = await from.listTokens()
  if (token === undefined) throw new Error('no token')
  await to.addToken({ ...token, caller: 'other' })
  await t.rejects(copyStore(from, to), { message: `the token ${token.id} differs` })
  await Promise.all([from.close(), to.close()])
})

t.test('a file that is in use or does not exist is refused, and not created', async (t) => {
  const { file, url } = await prepare(t, 1)
  const store = await openStore({ file })
  t.match((await copy(file, url)).stderr, /another process is using it\n$/)
  await store.close()
  t.match(await copy(`${file}2`, url), { code: 1, stderr: `there is no file ${file}2\n` })
  t.notOk(existsSync(`${file}2`))
  for (const [words, message] of [
    [[], /^sqlite:<file> is missing/],
    [[file], /plants\.db" must be sqlite:<file>\n$/],
    [['sqlite:'], /^"sqlite:" must be sqlite:<file>\n$/],
  ] as const) {
    t.match(await run([...COPY, ...words], { DATABASE_URL: url }), { code: 1, stderr: message })
  }
})
