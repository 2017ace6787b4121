// Checks the answers to simultaneous requests for the books of a library for linearizability: each request changes a book, a member
// and a loan, or sees one of them. The books are in groups, from which other members do not borrow: a group is checked as a whole.
import { type Model, OrderSearch, type Timed } from './order.ts'

/** The limit of the library. */
const MAX_LOANS = 5
/** The copies of each book of a group. */
export const COPIES_IN_GROUP = 1

interface OfGroup extends Timed {
  readonly group: number
}

/** A request to borrow or to return a book. */
export interface Lending extends OfGroup {
  readonly kind: 'borrow' | 'return'
  readonly member: string
  readonly isbn: string
  /** `refused`: there is no such loan, no free copy, or one loan too many. `unknown`: it may be done at any time. */
  readonly outcome: 'done' | 'refused' | 'unknown'
}

/** The answer to who asks for a book or a member. */
export interface Counted extends OfGroup {
  readonly kind: 'free' | 'open'
  /** The ISBN, or the id of the member. */
  readonly key: string
  readonly count: number
}

export type LendingOperation = Lending | Counted

/** @returns a text for each group without an order of its requests: a change was lost, done in part, or seen too early or too late */
export function lendingViolations(operations: readonly LendingOperation[]): string[] {
  return [...Map.groupBy(operations, ({ group }) => group)].flatMap(([group, calls]) => {
    const wrong = new OrderSearch(LOANS).firstViolation(calls)
    if (wrong === undefined) return []
    const history = calls
      .filter((call) => call.start <= wrong.end)
      .sort((left, two) => left.start - two.start)
    const lines = history
      .slice(-40)
      .map((call) => `  ${describe(call)}${call === wrong ? ' <- wrong' : ''}`)
    return [`group ${group}:\n${lines.join('\n')}`]
  })
}

/** A state has the loans, in their order: all other things follow from them. */
const LOANS: Model<LendingOperation> = {
  initial: '',
  isRead: (call) => isCounted(call) || call.outcome === 'refused',
  fits: (call, state) =>
    isCounted(call) ? countIn(call, state) === call.count : fits(call, state),
  after: (call, state) => (isCounted(call) ? state : after(call, state)),
}

function isCounted(call: LendingOperation): call is Counted {
  return call.kind === 'free' || call.kind === 'open'
}

const loansIn = (state: string) => state.split(' ').filter(Boolean)
const loanOf = ({ member, isbn }: Lending) => `${member}/${isbn}`

function countIn({ kind, key }: Counted, state: string): number {
  const loans = loansIn(state)
  if (kind === 'open') return loans.filter((loan) => loan.startsWith(`${key}/`)).length
  return COPIES_IN_GROUP - loans.filter((loan) => loan.endsWith(`/${key}`)).length
}

function canBorrow({ member, isbn }: Lending, state: string): boolean {
  const loans = loansIn(state)
  const open = loans.filter((loan) => loan.startsWith(`${member}/`)).length
  const lent = loans.filter((loan) => loan.endsWith(`/${isbn}`)).length
  return open < MAX_LOANS && lent < COPIES_IN_GROUP
}

function fits(call: Lending, state: string): boolean {
  const { kind, outcome } = call
  if (outcome === 'unknown') return true
  const isLent = loansIn(state).includes(loanOf(call))
  const isAllowed = kind === 'return' ? isLent : isLent || canBorrow(call, state)
  return isAllowed === (outcome === 'done')
}

function after(call: Lending, state: string): string {
  const loan = loanOf(call)
  const loans = loansIn(state)
  if (call.kind === 'return') return loans.filter((stored) => stored !== loan).join(' ')
  if (loans.includes(loan) || !canBorrow(call, state)) return state
  return [...loans, loan].sort().join(' ')
}

function describe(call: LendingOperation): string {
  const what = isCounted(call) ? `${call.key} ${call.count}` : `${loanOf(call)}: ${call.outcome}`
  return `${call.start.toFixed(1)} to ${call.end.toFixed(1)}: ${call.kind} ${what}`
}
