// What the classes of the library share: the owner of its items, and who may act for a member.

/** The owner of all items. No caller has this name. */
export const LIBRARY = '/library'

/** Whether a caller may read and change what a member has: a librarian, and the member. */
export function mayActFor(
  member: string,
  { caller, scopes }: { readonly caller: string; readonly scopes: ReadonlySet<string> },
): boolean {
  return scopes.has('librarian') || caller === member
}
