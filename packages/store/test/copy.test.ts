// The copy command: from a file to an empty database of each kind.
import { existsSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { idOf } from '@plant-store/engine/for-testing'
import type { Entry } from '../src/core/database.ts'
import { openDatabases } from '../../../test/support/postgres/server.ts'
import { program, run, start } from '../../../test/support/processes/programs.ts'
import { openTestStore } from '../../../test/support/stores/open-store.ts'
import { issueToken } from '../../../test/support/servers/access-tokens.ts'

const server = await openDatabases(t)

/** Makes a file with items of many owners, and an empty database. */
async function prepare(t: Test, count: number) {
  const file = `${t.testdir()}/plants.db`
  const store = await openTestStore({ file })
  const owners = ['', 'joe', 'Joe', 'jöe', '植', '\u{10FFFF}'] as const
  const texts = ['a', '👩‍🌾🏽\u0001"\\', '\u212B Å', '\u{10FFFF}\uFFFF', 'x'.repeat(255)] as const
  const int64s = [-(2n ** 63n), 2n ** 63n - 1n, 2n ** 53n + 1n] as const
  const of = <Item>(items: readonly [Item, ...Item[]], index: number) =>
    items[index % items.length] ?? items[0]
  const create = (index: number) => {
    const [owner, text, place] = [
      of(owners, index),
      of(texts, index),
      Math.floor(index / owners.length),
    ]
    const tag = index % 2 === 0 ? { tag: of(texts, index + 1) } : {}
    return [
      store.create(owner, int64s[place] ?? BigInt(index), { name: text, ...tag }),
      store.notes.create(owner, `${of(texts, place)}${index}`, { text, count: of(int64s, index) }),
    ]
  }
  await Promise.all([...Array(count).keys()].flatMap(create))
  for (const [caller, lifetime] of [['joe'], ['ann'], ['short', 1000], ['ever', Infinity]] as const)
    await issueToken(store, caller, lifetime)
  await store.close()
  return { file, url: await server.createDatabase(), kept: await heldBy({ file }) }
}

const copy = (file: string, url: string) =>
  run(program('copy', `sqlite:${file}`), { DATABASE_URL: url })

/** The tokens and the items of a store. */
async function heldBy(database: Parameters<typeof openTestStore>[0]) {
  const store = await openTestStore(database)
  const entries: [collection: string, ...entry: Entry[]][] = []
  for (const [name, table] of store.tables) {
    for (
      let batch = await table.entries();
      batch.length > 0;
      batch = await table.entries(batch.at(-1))
    )
      entries.push([name, ...batch])
  }
  const tokens = await store.tokens.list()
  await store.close()
  return { entries, tokens }
}

t.test(
  'all items and tokens are copied exactly, also after an interruption, and another copy changes nothing',
  async (t) => {
    const { file, url, kept } = await prepare(t, 20_000)
    const { child, ended } = await start(t, program('copy', `sqlite:${file}`), {
      DATABASE_URL: url,
    })
    const copied = async () => {
      const [row] = await server
        .sql('SELECT count(*)::int AS plants FROM plants', url)
        .catch(() => [])
      return Number(row?.['plants'] ?? 0)
    }
    while ((await copied()) === 0) await delay(5)
    child.kill('SIGKILL')
    t.equal((await ended).signal, 'SIGKILL')
    const before = await copied()
    t.ok(before > 0 && before < 20_000, `after ${before}`)
    const stdout = '20000 plants, 20000 notes, and 4 tokens are copied\n'
    for (let round = 0; round < 2; round++) {
      t.strictSame(await copy(file, url), { code: 0, signal: null, stdout, stderr: '' })
      t.strictSame(await heldBy({ url }), kept)
    }
  },
)

t.test('a plant or a token that differs in the target is named, and not changed', async (t) => {
  const { file, url, kept } = await prepare(t, 100)
  const store = await openTestStore({ url })
  const [key, changed] = [2n ** 63n - 1n, { name: 'a', tag: 'another' }]
  await store.create('joe', key, changed)
  const stderr = 'plants: 9223372036854775807 of "joe" differs\n'
  t.match(await copy(file, url), { code: 1, stdout: '', stderr })
  t.strictSame(await store.find('joe', key), changed)
  await store.delete('joe', key)
  await store.create('bob', 1n, { name: 'more' })
  t.match(await copy(file, url), {
    code: 0,
    stdout: '100 plants, 100 notes, and 4 tokens are copied\n',
  })
  t.strictSame(await store.find('bob', 1n), { name: 'more' }, 'other rows are not changed')
  for (const token of kept.tokens.slice(0, 1)) {
    await store.tokens.remove(idOf(token))
    await store.tokens.add({ ...token, caller: 'other' })
    t.match(await copy(file, url), {
      code: 1,
      stdout: '',
      stderr: `the token ${idOf(token)} differs\n`,
    })
  }
  await store.close()
})

t.test('items are copied, however long they are', async (t) => {
  const file = `${t.testdir()}/plants.db`
  const store = await openTestStore({ file })
  const name = 'x'.repeat(1_000_000)
  for (let id = 0n; id < 100n; id++) await store.create('joe', id, { name })
  await store.close()
  const environment = { DATABASE_URL: await server.createDatabase(), DATABASE_TIMEOUT: '0.5' }
  const stdout = '100 plants, 0 notes, and 0 tokens are copied\n'
  t.match(await run(program('copy', `sqlite:${file}`), environment), {
    code: 0,
    stdout,
    stderr: '',
  })
})

t.test('a file that is in use or does not exist is refused, and not created', async (t) => {
  const { file, url } = await prepare(t, 1)
  const store = await openTestStore({ file })
  t.match((await copy(file, url)).stderr, /another process is using it\n$/)
  await store.close()
  t.match(await copy(`${file}2`, url), { code: 1, stderr: `there is no file ${file}2\n` })
  t.notOk(existsSync(`${file}2`))
  for (const [words, message] of [
    [[], /^sqlite:<file> is missing/],
    [[file], /plants\.db" must be sqlite:<file>\n$/],
    [['sqlite:'], /^"sqlite:" must be sqlite:<file>\n$/],
  ] as const) {
    t.match(await run(program('copy', ...words), { DATABASE_URL: url }), {
      code: 1,
      stderr: message,
    })
  }
})
