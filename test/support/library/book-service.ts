// The books of the library, and their copies.
import { change, refusal, removed, write } from '@plant-store/engine'
import { isDeepStrictEqual } from 'node:util'
import type { Request, Result } from './contract.gen.ts'
import { type Books, LIBRARY, linkTo } from './library.ts'

export class BookService {
  readonly #books: Books

  constructor(books: Books) {
    this.#books = books
  }

  async listBooks({ query }: Request<'listBooks'>): Promise<Result<'listBooks'>> {
    const { items, next } = await this.#books.list(LIBRARY, query)
    return { status: 200, headers: { Link: linkTo(next, query) }, body: items }
  }

  async listBooksOf({
    path: { author },
    query,
  }: Request<'listBooksOf'>): Promise<Result<'listBooksOf'>> {
    const order = { index: 'author', equals: [author], descending: true, ...query } as const
    const { items, next } = await this.#books.list(LIBRARY, order)
    return { status: 200, headers: { Link: linkTo(next, query) }, body: items }
  }

  async addBook({ path: { isbn }, body }: Request<'addBook'>): Promise<Result<'addBook'>> {
    const book = await this.#books.create(LIBRARY, isbn, { ...body, free: body.copies })
    const { free: _, ...stored } = book
    if (!isDeepStrictEqual(stored, body))
      return refusal(409, 'There is another book with this ISBN')
    return { status: 200, body: book }
  }

  async getBook({ path: { isbn } }: Request<'getBook'>): Promise<Result<'getBook'>> {
    const book = await this.#books.find(LIBRARY, isbn)
    return book === undefined ? refusal(404, 'No such book') : { status: 200, body: book }
  }

  async changeCopies({
    path: { isbn },
    body: { copies },
  }: Request<'changeCopies'>): Promise<Result<'changeCopies'>> {
    const result = await this.#books.update(LIBRARY, isbn, (book) => {
      const lent = book.copies - book.free
      if (copies < lent) return write(undefined, refusal(409, `${lent} copies are lent`))
      const changed = { ...book, copies, free: copies - lent }
      return write(changed, { status: 200, body: changed })
    })
    return result ?? refusal(404, 'No such book')
  }

  async removeBook({ path: { isbn } }: Request<'removeBook'>): Promise<Result<'removeBook'>> {
    return change(LIBRARY, { book: this.#books.at(isbn) }, ({ book }) => {
      if (book === undefined) return refusal(404, 'No such book')
      if (book.free < book.copies) return refusal(409, 'A copy is lent')
      return write({ book: removed }, { status: 204 })
    })
  }
}
