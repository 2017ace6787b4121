// The loans of the library: a book, a member and a loan change together, or not at all.
import { change, type Collection, refusal, removed, write } from '@plant-store/engine'
import type { components, Request, Result } from './contract.gen.ts'
import { LIBRARY, mayActFor } from './library.ts'

type Book = components['schemas']['Book']
type Member = components['schemas']['Member']
type Loan = components['schemas']['Loan']

const MAX_LOANS = 5
const DAYS = 28

export class LoanService {
  readonly #books: Collection<Book, string>
  readonly #members: Collection<Member, string>
  readonly #loans: Collection<Loan, string>

  constructor(
    books: Collection<Book, string>,
    members: Collection<Member, string>,
    loans: Collection<Loan, string>,
  ) {
    this.#books = books
    this.#members = members
    this.#loans = loans
  }

  async borrowBook(request: Request<'borrowBook'>): Promise<Result<'borrowBook'>> {
    const { id, isbn } = request.path
    if (!mayActFor(id, request)) return refusal(403, 'For librarians, and the member')
    const lent = { isbn, member: id, due: dayIn(DAYS) }
    return change(LIBRARY, this.#itemsOf(id, isbn), ({ book, member, loan }) => {
      if (book === undefined || member === undefined) return refusal(404, 'No such book or member')
      if (loan !== undefined) return { status: 200, body: loan } // the request is repeated
      if (book.free === 0) return refusal(409, 'No copy is free')
      if (member.open >= MAX_LOANS) return refusal(409, `A member has at most ${MAX_LOANS} loans`)
      const items = {
        book: { ...book, free: book.free - 1 },
        member: { ...member, open: member.open + 1 },
        loan: lent,
      }
      return write(items, { status: 200, body: lent })
    })
  }

  async returnBook(request: Request<'returnBook'>): Promise<Result<'returnBook'>> {
    const { id, isbn } = request.path
    if (!mayActFor(id, request)) return refusal(403, 'For librarians, and the member')
    return change(LIBRARY, this.#itemsOf(id, isbn), ({ book, member, loan }) => {
      if (book === undefined || member === undefined || loan === undefined)
        return refusal(404, 'No such loan')
      const items = {
        book: { ...book, free: book.free + 1 },
        member: { ...member, open: member.open - 1 },
        loan: removed,
      }
      return write(items, { status: 204 })
    })
  }

  /** A member has a book once, so both together are the key of the loan. */
  #itemsOf(id: string, isbn: string) {
    return {
      book: this.#books.at(isbn),
      member: this.#members.at(id),
      loan: this.#loans.at(`${id}/${isbn}`),
    }
  }
}

/** The day in some days, as `format: date` of the contract has it (RFC 3339). */
function dayIn(days: number): string {
  const milliseconds = days * 24 * 60 * 60 * 1000
  return new Date(Date.now() + milliseconds).toISOString().slice(0, 10)
}
