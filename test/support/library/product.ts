// A library: books, members and loans, which change together.
import { defineProduct } from '@plant-store/engine'
import { openStore } from '@plant-store/store'
import { BookService } from './book-service.ts'
import { contract } from './contract.gen.ts'
import { LoanService } from './loan-service.ts'
import { MemberService } from './member-service.ts'

export const product = defineProduct({
  name: 'library',
  contract,
  store: openStore,
  collections: {
    books: { schema: 'Book', key: 'text', indexes: { author: ['author', 'year'] } },
    members: { schema: 'Member', key: 'text', indexes: { email: { on: ['email'], unique: true } } },
    loans: { schema: 'Loan', key: 'text', indexes: { member: ['member', 'due'], due: ['due'] } },
  },
  services: ({ books, members, loans }) => [
    new BookService(books),
    new MemberService(members),
    new LoanService(books, members, loans),
  ],
})
