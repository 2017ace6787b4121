// Fills a store with the books and members of a library, and reads what it has of them.
import { openCollections, readConfig } from '@plant-store/engine'
import { storedCollections, type StoreOptions } from '@plant-store/engine/for-store'
import { openStore } from '@plant-store/store'
import { issueTokenOf } from '../servers/access-tokens.ts'
import { read } from '../stores/read-page.ts'
import { range } from '../stores/store-engines.ts'
import { LIBRARY } from './library.ts'
import { product } from './product.ts'

export type Database = StoreOptions['database']

/** Fewer copies than members want, and more books than a member may have. */
export const COPIES = 3
export const ISBNS = range(12).map((index) => `97800000000${String(index).padStart(2, '0')}`)
export const MEMBERS = range(8).map((index) => `member-${index}`)

/** The key of a loan. */
export const loanOf = (member: string, isbn: string) => `${member}/${isbn}`

/** A library as it is stored. */
export interface Stock {
  readonly books: ReadonlyMap<string, { readonly copies: number; readonly free: number }>
  readonly members: ReadonlyMap<string, { readonly open: number }>
  /** The keys of the loans. */
  readonly loans: ReadonlySet<string>
}

/** Opens the store of the library. On SQLite no process may have it open. */
export async function openLibrary(database: Database) {
  const store = await openStore({
    database,
    collections: storedCollections(product),
    isExclusive: true,
    settings: readConfig('library', { DATABASE_TIMEOUT: '20' }),
  })
  return { ...(await openCollections(product, store)), store }
}

/** Fills a new store. @returns the token of a librarian */
export async function fillLibrary(database: Database): Promise<string> {
  const { books, members, store } = await openLibrary(database)
  const book = { title: 'A book', author: 'Le Guin', year: 1969, copies: COPIES, free: COPIES }
  for (const isbn of ISBNS) await books.create(LIBRARY, isbn, book)
  for (const id of MEMBERS)
    await members.create(LIBRARY, id, { name: id, email: `${id}@example.com`, open: 0 })
  return issueTokenOf(product, store, 'desk', undefined, ['librarian']).finally(() => store.close())
}

/** Reads a library. Nobody may change it meanwhile. */
export async function readLibrary(database: Database): Promise<Stock> {
  const { books, members, loans, store } = await openLibrary(database)
  const findAll = async <Item>(
    keys: readonly string[],
    find: (key: string) => Promise<Item | undefined>,
  ) => {
    const items = await Promise.all(keys.map(async (key) => [key, await find(key)] as const))
    return new Map(
      items.flatMap(([key, item]) => (item === undefined ? [] : [[key, item] as const])),
    )
  }
  try {
    const { items } = await read(loans.list(LIBRARY))
    return {
      books: await findAll(ISBNS, (isbn) => books.find(LIBRARY, isbn)),
      members: await findAll(MEMBERS, (id) => members.find(LIBRARY, id)),
      loans: new Set(items.map(({ member, isbn }) => loanOf(member, isbn))),
    }
  } finally {
    await store.close()
  }
}

/** What does not belong together: a copy that is lost or there twice, and a member with another number of loans than it says. */
export function faultsIn({ books, members, loans }: Stock): string[] {
  const count = (isOf: (loan: string) => boolean) => [...loans].filter(isOf).length
  const missing = [
    ...ISBNS.filter((isbn) => !books.has(isbn)),
    ...MEMBERS.filter((id) => !members.has(id)),
  ]
  const wrongBooks = [...books].filter(([isbn, { copies, free }]) => {
    const lent = count((loan) => loan.endsWith(`/${isbn}`))
    return copies !== COPIES || free < 0 || free + lent !== copies
  })
  const wrongMembers = [...members].filter(([id, { open }]) => {
    const borrowed = count((loan) => loan.startsWith(`${id}/`))
    return open !== borrowed || borrowed > 5
  })
  return [
    ...missing.map((key) => `${key} is lost`),
    ...wrongBooks.map(
      ([isbn, { free }]) =>
        `${isbn}: of ${COPIES} copies ${free} are free, and ${count((loan) => loan.endsWith(isbn))} lent`,
    ),
    ...wrongMembers.map(
      ([id, { open }]) =>
        `${id}: ${open} loans are counted, and ${count((loan) => loan.startsWith(`${id}/`))} stored`,
    ),
  ]
}
