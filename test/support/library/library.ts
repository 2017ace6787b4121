// What the classes of the library share: its collections, their owner, and who may act for a member.
import type { Collection } from '@plant-store/engine'
import type { components } from './contract.gen.ts'

type Schemas = components['schemas']

// The indexes as product.ts defines them. A class may name fewer.
export type Books = Collection<Schemas['Book'], string, { author: ['author', 'year'] }>
export type Members = Collection<
  Schemas['Member'],
  string,
  { email: { on: ['email']; unique: true } }
>
export type Loans = Collection<Schemas['Loan'], string, { member: ['member', 'due']; due: ['due'] }>

/** The owner of all items. No caller has this name. */
export const LIBRARY = '/library'

/** Whether a caller may read and change what a member has: a librarian, and the member. */
export function mayActFor(
  member: string,
  { caller, scopes }: { readonly caller: string; readonly scopes: ReadonlySet<string> },
): boolean {
  return scopes.has('librarian') || caller === member
}

/** The Link of a page (RFC 8288): the same query with the cursor of the next one, if there is one. */
export function linkTo(
  cursor: string | undefined,
  query: Readonly<Record<string, string | number | undefined>>,
): string | undefined {
  if (cursor === undefined) return undefined
  const parameters = new URLSearchParams({ cursor })
  for (const [name, value] of Object.entries(query))
    if (value !== undefined && name !== 'cursor') parameters.set(name, String(value))
  return `<?${parameters.toString()}>; rel="next"`
}
