// The types of a change: its function may write the items that the change asked for, and no others.
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
    // @ts-expect-error It did not ask for a shelf.
    change('/library', items, () => write({ loan, shelf: loan }, 3)),
    // @ts-expect-error A loan is no book.
    change('/library', items, () => write({ book: loan }, 3)),
    // @ts-expect-error The key of a book is a string.
    change('/library', { book: books.at(7n) }, () => 3),
  ]
}
