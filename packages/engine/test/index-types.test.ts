// The types of indexes: wrong ones, and wrong values of them, do not compile.
import t from 'tap'
import { type Collection, type CompiledContract, defineProduct } from '@plant-store/engine'
import { openStore } from '@plant-store/store'

interface Book {
  readonly title: string
  readonly author?: string | null
  readonly year: bigint
  readonly price: number
  readonly isLent: boolean
  readonly state: 'new' | 'used'
  readonly place: { readonly shelf: string; readonly floor?: { readonly number: bigint } } | null
  readonly tags: readonly string[]
  readonly more: unknown
  readonly mixed: string | number
  readonly owner: { readonly person: string } | { readonly firm: string; readonly tax: bigint }
}
type Indexed = Collection<
  Book,
  string,
  {
    author: ['author', 'year']
    shelf: ['place.shelf']
    state: readonly ['state', 'isLent', 'price']
    floor: ['place.floor.number']
    firm: ['owner.tax']
    title: { on: ['title', 'year']; unique: true }
  }
>
declare const contract: CompiledContract<
  { schemas: { Book: Book } },
  { run: { parameters: object; responses: object } }
>
class Books {
  readonly books: Collection<Book, string>

  constructor(books: Collection<Book, string>) {
    this.books = books
  }
}

t.test('indexes that do not fit their items do not compile, and neither do wrong values', (t) => {
  t.pass('it has compiled')
  t.end()
})

/** Never called. */
export function asked(books: Indexed) {
  return [
    books.list('joe', { index: 'author' }),
    books.list('joe', { index: 'author', from: 'A', to: 'B', descending: true, limit: 3 }),
    books.list('joe', { index: 'author', equals: ['Le Guin'], from: 1960n, to: 1980n }),
    books.list('joe', { index: 'author', equals: ['Le Guin', 1969n], cursor: 'x' }),
    books.list('joe', { index: 'author', equals: [] }),
    books.list('joe', { index: 'shelf', equals: ['A3'] }),
    books.list('joe', { index: 'state', equals: ['new', true], from: 1.5 }),
    books.list('joe', { index: 'floor', from: -1n }),
    books.list('joe', { index: 'firm', equals: [7n] }),
    books.list('joe', { descending: true }),
    books.count('joe', { index: 'author', equals: ['Le Guin'], most: 10 }),
    books.count('joe', { most: 10 }),
    books.entries('joe', { index: 'title', equals: ['Tehanu'] }),
    books.entries('joe'),
    books.find('joe', { index: 'title', equals: ['Tehanu', 1990n] }),
    // @ts-expect-error There is no such index.
    books.list('joe', { index: 'year' }),
    // @ts-expect-error An author is a string.
    books.list('joe', { index: 'author', equals: [7n] }),
    // @ts-expect-error No item of an index has null.
    books.list('joe', { index: 'author', equals: [null] }),
    // @ts-expect-error A year is an int64.
    books.list('joe', { index: 'author', equals: ['Le Guin'], from: 1960 }),
    // @ts-expect-error A bound of the first property is a string.
    books.list('joe', { index: 'author', from: 1960n }),
    // @ts-expect-error The index has two values.
    books.list('joe', { index: 'author', equals: ['Le Guin', 1969n, 1n] }),
    // @ts-expect-error All values are given: nothing is left to bound.
    books.list('joe', { index: 'author', equals: ['Le Guin', 1969n], from: 1n }),
    // @ts-expect-error A state has two values.
    books.list('joe', { index: 'state', equals: ['old'] }),
    // @ts-expect-error Values are of an index.
    books.list('joe', { equals: ['Le Guin'] }),
    // @ts-expect-error A count has an end.
    books.count('joe', { index: 'author' }),
    // @ts-expect-error A unique index has all its values.
    books.find('joe', { index: 'title', equals: ['Tehanu'] }),
    // @ts-expect-error This index is not unique.
    books.find('joe', { index: 'shelf', equals: ['A3'] }),
  ]
}

/** Never called. */
export async function answered(books: Indexed) {
  const book: { key: string; item: Book } | undefined = await books.find('joe', {
    index: 'title',
    equals: ['Tehanu', 1990n],
  })
  for await (const { key, item } of books.entries('joe')) return [key.length, item.year, book]
  return []
}

/** Never called. */
export function passed(books: Indexed, plain: Collection<Book, string>) {
  const fewer: Collection<Book, string, { shelf: ['place.shelf'] }> = books
  const none: Collection<Book, string> = books
  // @ts-expect-error It has no index.
  const missing: Indexed = plain
  // @ts-expect-error Its index is not unique.
  const unique: Collection<Book, string, { shelf: { on: ['place.shelf']; unique: true } }> = books
  // @ts-expect-error Its index has other properties.
  const others: Collection<Book, string, { shelf: ['title'] }> = books
  return [fewer, none, missing, unique, others]
}

/** Never called. */
export function defined() {
  const BOOK = { schema: 'Book', key: 'text' } as const
  const named = { name: 'library', contract, store: openStore } as const
  const product = { ...named, services: () => [{ run: async () => ({}) as never }] } as const
  const collections = {
    books: {
      schema: 'Book',
      key: 'text',
      indexes: { author: ['author', 'year'], title: { on: ['title'], unique: true } },
    },
  } as const
  return [
    defineProduct({
      ...product,
      collections: { books: { ...BOOK, indexes: { title: ['title'] } } },
    }),
    defineProduct({
      ...named,
      collections,
      services: ({ books }) => {
        void books.list('joe', { index: 'author', equals: ['Le Guin'] })
        void books.find('joe', { index: 'title', equals: ['Tehanu'] })
        const needed: Collection<Book, string, typeof collections.books.indexes> = books
        return [{ run: async () => new Books(needed) as never }]
      },
    }),
    defineProduct({
      ...product,
      // @ts-expect-error There is no property autor.
      collections: { books: { ...BOOK, indexes: { author: ['autor'] } } },
    }),
    defineProduct({
      ...product,
      // @ts-expect-error A list is in no index.
      collections: { books: { ...BOOK, indexes: { tags: ['tags'] } } },
    }),
    defineProduct({
      ...product,
      // @ts-expect-error An object is in no index.
      collections: { books: { ...BOOK, indexes: { place: ['place'] } } },
    }),
    defineProduct({
      ...product,
      // @ts-expect-error A property without a type is in no index.
      collections: { books: { ...BOOK, indexes: { more: ['more'] } } },
    }),
    defineProduct({
      ...product,
      // @ts-expect-error A property of two types is in no index.
      collections: { books: { ...BOOK, indexes: { mixed: ['mixed'] } } },
    }),
    defineProduct({
      ...product,
      // @ts-expect-error A floor has no name.
      collections: { books: { ...BOOK, indexes: { floor: ['place.floor.name'] } } },
    }),
    defineProduct({
      ...product,
      // @ts-expect-error An index has a property.
      collections: { books: { ...BOOK, indexes: { none: [] } } },
    }),
    defineProduct({
      ...product,
      // @ts-expect-error An index has no other properties.
      collections: { books: { ...BOOK, indexes: { title: { on: ['title'], uniqe: true } } } },
    }),
    defineProduct({
      ...product,
      // @ts-expect-error A unique index has properties that exist.
      collections: { books: { ...BOOK, indexes: { title: { on: ['titel'], unique: true } } } },
    }),
  ]
}
