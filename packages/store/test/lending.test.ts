// Changes of several items at the same time, on each engine and on two replicas: an order of all of them explains their answers.
import { fail } from 'node:assert'
import t from 'tap'
import { lendingViolations } from '../../../test/support/histories/lending-order.ts'
import {
  addGroups,
  type LendingAnswer,
  type LendingRequest,
  runLending,
} from '../../../test/support/histories/simultaneous-lending.ts'
import { BookService } from '../../../test/support/library/book-service.ts'
import { LoanService } from '../../../test/support/library/loan-service.ts'
import { MemberService } from '../../../test/support/library/member-service.ts'
import { type Database, openLibrary } from '../../../test/support/library/stock.ts'
import { openDatabases } from '../../../test/support/postgres/server.ts'

const isLong = process.env['LONG'] !== undefined
const SEED = Number(process.env['SEED'] ?? Date.now() % 2 ** 31)
const GROUPS = isLong ? 400 : 15

/** A request of a librarian without its parts. */
const REQUEST = {
  caller: 'desk',
  scopes: new Set(['librarian']),
  log: console,
  signal: new AbortController().signal,
  path: undefined,
  query: undefined,
  header: undefined,
  cookie: undefined,
  body: undefined,
  type: undefined,
}

/** The methods of a library in an open store. */
async function openDesk(database: Database) {
  const { books, members, loans, store } = await openLibrary(database)
  t.teardown(() => store.close())
  const [ofBooks, ofMembers, ofLoans] = [
    new BookService(books),
    new MemberService(members),
    new LoanService(books, members, loans),
  ]
  return {
    borrow: ({ member, isbn }: LendingRequest): Promise<LendingAnswer> =>
      ofLoans.borrowBook({ ...REQUEST, path: { id: member, isbn } }),
    return: ({ member, isbn }: LendingRequest): Promise<LendingAnswer> =>
      ofLoans.returnBook({ ...REQUEST, path: { id: member, isbn } }),
    free: ({ isbn }: LendingRequest): Promise<LendingAnswer> =>
      ofBooks.getBook({ ...REQUEST, path: { isbn } }),
    open: ({ member }: LendingRequest): Promise<LendingAnswer> =>
      ofMembers.getMember({ ...REQUEST, path: { id: member } }),
  }
}

const postgres = await openDatabases(t)
const DATABASES: Readonly<Record<string, readonly [database: Database, replicas: number]>> = {
  SQLite: [{ file: `${t.testdir()}/library.db` }, 1],
  'two replicas on PostgreSQL': [{ url: await postgres.createDatabase() }, 2],
}

for (const [name, [database, replicas]] of Object.entries(DATABASES)) {
  t.test(
    `an order of all changes and reads of several items explains their answers, on ${name}`,
    { timeout: 0 },
    async (t) => {
      t.comment(`SEED=${SEED}`)
      await addGroups(database, GROUPS)
      const desks = await Promise.all(Array.from({ length: replicas }, () => openDesk(database)))
      const ask = (request: LendingRequest, client: number) =>
        (desks[client % replicas] ?? fail())[request.kind](request)
      const operations = await runLending(ask, { seed: SEED, groups: [0, GROUPS] })
      const outcomes = operations.map(
        (call) => `${call.kind} ${'outcome' in call ? call.outcome : ''}`,
      )
      t.comment(
        Object.fromEntries(
          Map.groupBy(outcomes, (outcome) => outcome)
            .entries()
            .map(([outcome, { length }]) => [outcome, length]),
        ),
      )
      for (const outcome of ['borrow done', 'borrow refused', 'return done', 'return refused'])
        t.ok(outcomes.includes(outcome), outcome)
      t.strictSame(lendingViolations(operations), [])
    },
  )
}
