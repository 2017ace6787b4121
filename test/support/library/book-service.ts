// The books of the library, and their copies.
import { change, type Collection, refusal, removed, write } from '@plant-store/engine'
import { isDeepStrictEqual } from 'node:util'
import type { components, Request, Result } from './contract.gen.ts'
import { LIBRARY } from './library.ts'

type Book = components['schemas']['Book']

export class BookService {
  readonly #books: Collection<Book, string>

  constructor(books: Collection<Book, string>) {
    this.#books = books
  }

  async listBooks({
    query: { limit, cursor },
  }: Request<'listBooks'>): Promise<Result<'listBooks'>> {
    const { items, next } = await this.#books.list(LIBRARY, { limit, cursor })
    const Link = next && `<?limit=${limit}&cursor=${next}>; rel="next"`
    return { status: 200, headers: { Link }, body: items }
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
    return change(LIBRARY, { book: this.#books.at(isbn) }, ({ book }) => {
      if (book === undefined) return refusal(404, 'No such book')
      const lent = book.copies - book.free
      if (copies < lent) return refusal(409, `${lent} copies are lent`)
      const changed = { ...book, copies, free: copies - lent }
      return write({ book: changed }, { status: 200, body: changed })
    })
  }

  async removeBook({ path: { isbn } }: Request<'removeBook'>): Promise<Result<'removeBook'>> {
    return change(LIBRARY, { book: this.#books.at(isbn) }, ({ book }) => {
      if (book === undefined) return refusal(404, 'No such book')
      if (book.free < book.copies) return refusal(409, 'A copy is lent')
      return write({ book: removed }, { status: 204 })
    })
  }
}
