// Entity tags, and the recipe of service/docs/etags.md, on both databases.
import t from 'tap'
import { etag, matches, refusal, write } from '../../src/index.ts'
import { range } from '../../../../test/support/stores/store-engines.ts'
import { startPostgres } from '../../../../test/support/postgres/server.ts'
import {
  openTestStore,
  type Plant,
  type TestStore,
} from '../../../../test/support/stores/open-store.ts'

t.test('an item has always the same tag, another item another one', (t) => {
  const item = { id: 9007199254740993n, name: 'é', list: [1, { a: null }] }
  t.match(etag(item), /^"[\w-]{22}"$/)
  t.equal(etag(structuredClone(item)), etag(item))
  const others = [
    { ...item, id: 9007199254740992n },
    { ...item, name: 'e' },
    { ...item, x: 1 },
  ]
  t.equal(new Set([item, ...others].map(etag)).size, 4)
  t.end()
})

const file = `${t.testdir()}/etag.db`
const url = await (await startPostgres(t)).createDatabase()
for (const [engine, database] of Object.entries({ sqlite: { file }, postgres: { url } })) {
  t.test(`${engine}: of 32 clients with one tag, one changes the item`, async (t) => {
    const store = await openTestStore(database)
    t.teardown(() => store.close())
    await store.create('joe', 7n, { name: 'seen by all' })
    const tag = etag(await store.find('joe', 7n))
    const answers = await Promise.all(
      range(32).map((client) => change(store, { name: `of client ${client}` }, tag)),
    )
    const statuses = answers.map(({ status }) => status)
    t.equal(statuses.filter((status) => status === 200).length, 1)
    t.equal(statuses.filter((status) => status === 412).length, 31)
    t.match(await store.find('joe', 7n), { name: `of client ${statuses.indexOf(200)}` })
  })
}

t.test('a tag is compared with the tags of a request as RFC 9110 says', async (t) => {
  const tag = '"a,b"'
  for (const header of ['"a,b"', '*', ' * ', '"x", "a,b"', 'W/"x","a,b"', '"a,b",'])
    for (const comparison of ['weak', 'strong'] as const)
      t.ok(matches(header, tag, comparison), `${comparison}: ${header}`)
  t.ok(matches('W/"a,b"', tag), 'as a gateway sends it that compresses')
  t.ok(matches('"a,b"', `W/${tag}`))
  t.notOk(matches('W/"a,b"', tag, 'strong'))
  t.notOk(matches('"a,b"', `W/${tag}`, 'strong'), 'nothing matches a weak tag')
  for (const header of ['', 'a,b', '"a"', '"a,b', 'w/', '"*"', '"x", "y"'])
    t.notOk(matches(header, tag), header)
  t.notOk(matches('*', undefined), 'there is no item')
  t.notOk(matches('"a"', undefined))
})

/** The recipe. */
async function change(store: TestStore, body: Plant, expected: string) {
  const result = await store.update('joe', 7n, (plant) => {
    if (!matches(expected, etag(plant), 'strong'))
      return write(undefined, refusal(412, 'The plant has changed'))
    return write(body, { status: 200, headers: { ETag: etag(body) }, body })
  })
  return result ?? refusal(404, 'No such plant')
}
