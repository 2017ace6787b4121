// The loans of the library: a book, a member and a loan change together, or not at all.
import { change, refusal, removed, write } from '@plant-store/engine'
import type { Request, Result } from './contract.gen.ts'
import { type Books, LIBRARY, linkTo, type Loans, mayActFor, type Members } from './library.ts'

const MAX_LOANS = 5
const DAYS = 28

export class LoanService {
  readonly #books: Books
  readonly #members: Members
  readonly #loans: Loans

  constructor(books: Books, members: Members, loans: Loans) {
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

  async listLoans(request: Request<'listLoans'>): Promise<Result<'listLoans'>> {
    const { path, query } = request
    if (!mayActFor(path.id, request)) return refusal(403, 'For librarians, and the member')
    const order = { index: 'member', equals: [path.id], ...query } as const
    const { items, next } = await this.#loans.list(LIBRARY, order)
    return { status: 200, headers: { Link: linkTo(next, query) }, body: items }
  }

  async countOverdue(): Promise<Result<'countOverdue'>> {
    const overdue = { index: 'due', to: dayIn(0), most: 10_000 } as const
    return { status: 200, body: { count: await this.#loans.count(LIBRARY, overdue) } }
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
