// A library: what belongs together changes together, by its whole service.
import { globSync, readFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import { type Answer, startProduct } from '@plant-store/testing'
import { fields } from './support/inner/json.ts'
import { run } from './support/processes/programs.ts'
import { range } from './support/stores/store-engines.ts'
import { product } from './support/library/product.ts'

const LEFT_HAND = '9780441478125'
const BOOK = { title: 'The Left Hand of Darkness', author: 'Le Guin', year: 1969, copies: 3 }

/** Starts a library with some books, and two members. */
async function open(t: Test, books: number) {
  const { call, token } = await startProduct(t, product)
  const tokens = {
    librarian: await token('desk'),
    ann: await token('ann', undefined, []),
    ben: await token('ben', undefined, []),
  }
  const ask = (who: keyof typeof tokens, method: string, path: string, body?: unknown) =>
    call({ method, path, token: tokens[who], ...(body !== undefined && { body }) })
  const isbns = range(books).map((index) => String(BigInt(LEFT_HAND) + BigInt(index)))
  for (const isbn of isbns) await ask('librarian', 'PUT', `/books/${isbn}`, BOOK)
  for (const name of ['ann', 'ben']) {
    const member = { name, email: `${name}@example.com` }
    await ask('librarian', 'PUT', `/members/${name}`, member)
  }
  return { ask, isbns }
}

t.test('what was generated for the library is not stale', async (t) => {
  const command = [process.execPath, 'test/support/library/generate.ts', '--check']
  t.match(await run(command, {}), { code: 0 })
})

t.test('the page about data that belongs together has the code of the library', async (t) => {
  const oneLine = (text: string) => text.replaceAll(/\s+/g, ' ').trim()
  const files = globSync('test/support/library/*.ts').map((file) =>
    oneLine(readFileSync(file, 'utf8')),
  )
  const page = readFileSync('service/docs/data-that-belongs-together.md', 'utf8')
  const blocks = [...page.matchAll(/^```ts\n([^]*?)^```$/gm)].map(([, text = '']) => text)
  t.ok(blocks.length > 8)
  for (const block of blocks)
    t.ok(
      files.some((text) => text.includes(oneLine(block))),
      block,
    )
})

t.test('a book is borrowed and returned: its copies, the member and the loan agree', async (t) => {
  const { ask } = await open(t, 1)
  const [book, loan] = [`/books/${LEFT_HAND}`, `/members/ann/loans/${LEFT_HAND}`]
  const lent = await ask('ann', 'PUT', loan)
  t.match(lent, { status: 200, json: { isbn: LEFT_HAND, member: 'ann' } })
  t.strictSame((await ask('ann', 'PUT', loan)).json, lent.json, 'a repetition lends no second copy')
  t.match(await ask('ann', 'GET', book), { json: { copies: 3, free: 2 } })
  t.match(await ask('ann', 'GET', '/members/ann'), { json: { open: 1 } })
  t.match(await ask('librarian', 'PATCH', book, { copies: 0 }), { status: 409 })
  t.match(await ask('librarian', 'DELETE', book), { status: 409 })
  t.match(await ask('librarian', 'DELETE', '/members/ann'), { status: 409 })

  t.match(await ask('ann', 'DELETE', loan), { status: 204 })
  t.match(await ask('ann', 'DELETE', loan), { status: 404 })
  t.match(await ask('ann', 'GET', book), { json: { copies: 3, free: 3 } })
  t.match(await ask('ann', 'GET', '/members/ann'), { json: { open: 0 } })
  t.match(await ask('librarian', 'PATCH', book, { copies: 0 }), { json: { copies: 0, free: 0 } })
  t.match(await ask('ann', 'PUT', loan), { status: 409 }, 'there is no copy any more')
  t.match(await ask('librarian', 'DELETE', book), { status: 204 })
  t.match(await ask('librarian', 'DELETE', '/members/ann'), { status: 204 })
  t.match(await ask('librarian', 'PUT', loan), { status: 404 })
})

t.test('a member has at most five loans, however many are asked for at once', async (t) => {
  const { ask, isbns } = await open(t, 12)
  const paths = isbns.map((isbn) => `/members/ann/loans/${isbn}`)
  const answers = await Promise.all(paths.map((path) => ask('ann', 'PUT', path)))
  t.equal(answers.filter(({ status }) => status === 200).length, 5)
  t.equal(answers.filter(({ status }) => status === 409).length, 7)
  t.match(await ask('ann', 'GET', '/members/ann'), { json: { open: 5 } })
})

t.test('a member sees and changes only what is theirs, a librarian everything', async (t) => {
  const { ask } = await open(t, 1)
  const loan = `/members/ben/loans/${LEFT_HAND}`
  for (const [method, path, body] of [
    ['GET', '/members/ben'],
    ['PATCH', '/members/ben', { email: 'ann@example.com' }],
    ['PUT', loan],
    ['DELETE', loan],
    ['DELETE', '/members/ann'],
    ['DELETE', `/books/${LEFT_HAND}`],
  ] as const)
    t.match(await ask('ann', method, path, body), { status: 403 }, `${method} ${path}`)
  t.match(await ask('librarian', 'PUT', loan), { status: 200 })
  t.match(await ask('librarian', 'GET', '/members/ben'), { json: { open: 1 } })
  t.match(await ask('ben', 'DELETE', loan), { status: 204 })
})

t.test('an e-mail address has one member', async (t) => {
  const { ask } = await open(t, 1)
  const [ann, cid] = [
    { name: 'ann', email: 'ann@example.com' },
    { name: 'cid', email: 'ann@example.com' },
  ]
  t.match(await ask('librarian', 'PUT', '/members/ann', ann), { status: 200 }, 'the same member')
  t.match(await ask('librarian', 'PUT', '/members/cid', cid), { status: 409 })
  t.match(await ask('ben', 'PATCH', '/members/ben', { email: ann.email }), { status: 409 })
  const find = (email: string) => ask('librarian', 'GET', `/members?email=${email}`)
  t.match(await find(ann.email), { status: 200, json: { id: 'ann', member: { name: 'ann' } } })
  t.match(await ask('ann', 'PATCH', '/members/ann', { email: 'a@example.com' }), { status: 200 })
  t.match(await find(ann.email), { status: 404 })
  t.match(await ask('librarian', 'PUT', '/members/cid', cid), { status: 200 }, 'it is free again')
})

t.test('lists are in the order of an index, page by page', async (t) => {
  const { ask, isbns } = await open(t, 4)
  for (const [index, isbn] of isbns.entries())
    await ask('librarian', 'PUT', `/books/${BigInt(isbn) + 100n}`, {
      ...BOOK,
      author: 'Lem',
      year: 1960 + index,
    })
  const pages = async (path: string) => {
    const lists: unknown[] = []
    for (let next: string | undefined = path; next !== undefined;) {
      const { json, headers }: Answer = await ask('ben', 'GET', next)
      lists.push(json)
      const [, query] = /^<(.*)>/.exec(String(headers['link'] ?? '')) ?? []
      next = query && path.replace(/\?.*/, query)
    }
    return lists.flat()
  }
  const years = (await pages('/authors/Lem/books?limit=2&from=1961')).map(
    (book) => fields(book)['year'],
  )
  t.strictSame(years, [1963, 1962, 1961])
  for (const isbn of isbns)
    t.match(await ask('ben', 'PUT', `/members/ben/loans/${isbn}`), { status: 200 })
  const loans = (await pages('/members/ben/loans?limit=3')).map((loan) => fields(loan)['isbn'])
  t.strictSame(loans, isbns, 'due on the same day, in the order of their keys')
  t.match(await ask('ben', 'GET', '/members/ann/loans'), { status: 403 })
  t.match(await ask('librarian', 'GET', '/loans/overdue'), { json: { count: 0 } })
})
