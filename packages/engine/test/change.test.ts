// The types of a change and of an update: their functions may write the items that they asked for, and no others.
import t from 'tap'
import { change, type Collection, refusal, removed, write } from '@plant-store/engine'

interface Book {
  readonly title: string
  readonly free: number
}
interface Loan {
  readonly due: string
}
type Result =
  | { readonly status: 200; readonly body: Loan[] }
  | ReturnType<typeof refusal<404>>
  | ReturnType<typeof refusal<409>>

t.test('a change writes the items that it asked for: others do not compile', (t) => {
  t.pass('it has compiled')
  t.end()
})

/** Never called. */
export function compiled(books: Collection<Book, string>, loans: Collection<Loan>, loan: Loan) {
  const items = { book: books.at('isbn'), loan: loans.at(7n) }
  const answer: Promise<Result> = change('/library', items, ({ book }) => {
    if (book === undefined) return refusal(404, 'No such book')
    if (book.free === 0) return refusal(409, 'Not now')
    const lent = { ...book, free: book.free - 1 }
    return write({ book: lent, loan }, { status: 200, body: [loan] })
  })
  const text: Promise<'none' | number> = change('/library', items, ({ book }) =>
    book === undefined ? 'none' : write({ book: removed }, 3),
  )
  return [
    answer,
    text,
    // @ts-expect-error A title is no item with a name.
    change('/library', items, () => write('A title', 3)),
    // @ts-expect-error It did not ask for a shelf.
    change('/library', items, () => write({ loan, shelf: loan }, 3)),
    // @ts-expect-error A loan is no book.
    change('/library', items, () => write({ book: loan }, 3)),
    // @ts-expect-error The key of a book is a string.
    change('/library', { book: books.at(7n) }, () => 3),
  ]
}

t.test('an update writes an item of its collection: others do not compile', (t) => {
  t.pass('it has compiled')
  t.end()
})

/** Never called. */
export async function compiledUpdates(books: Collection<Book, string>): Promise<Result> {
  const title: Promise<string | undefined> = books.update('/library', 'isbn', (book) =>
    write(book, book.title),
  )
  const item: Promise<Book | undefined> = books.update('/library', 'isbn', (book) =>
    book.free === 0 ? undefined : { ...book, free: 0 },
  )
  const mixed: Promise<Book | number | undefined> = books.update('/library', 'isbn', (book) =>
    book.free === 0 ? undefined : write(book, 7),
  )
  const faults = [
    // @ts-expect-error A loan is no book.
    books.update('/library', 'isbn', () => write({ due: 'today' }, 3)),
    // @ts-expect-error An update waits for nothing.
    books.update('/library', 'isbn', async (book) => write(book, 3)),
    // @ts-expect-error An update deletes nothing.
    books.update('/library', 'isbn', () => write(removed, 3)),
    // @ts-expect-error A loan is no book, also without an answer.
    books.update('/library', 'isbn', () => ({ due: 'today' })),
  ]
  await Promise.all([title, item, mixed, ...faults])
  const result = await books.update('/library', 'isbn', (book) => {
    if (book.free === 0) return write(undefined, refusal(409, 'Not now'))
    return write({ ...book, free: book.free - 1 }, { status: 200, body: [{ due: 'today' }] })
  })
  return result ?? refusal(404, 'No such book')
}

/** A helper of a product, for items of any type. Never called. */
export function changed<Item>(items: Collection<Item>, change: (item: Item) => Item) {
  const stored: Promise<Item | undefined> = items.update('/library', 1n, change)
  return stored
}
