// A library: what belongs together changes together, by its whole service.
import t, { type Test } from 'tap'
import { startProduct } from '@plant-store/testing'
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
