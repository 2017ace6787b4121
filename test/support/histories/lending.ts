// Clients that borrow and return the books of a library for its members. A record of their requests and answers is compared with
// the store.
import { Agent } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { ISBNS, loanOf, MEMBERS, type Stock } from '../library/stock.ts'
import { request } from '../servers/start-product.ts'

/** Clients of a member. Each has books of its own, so that a loan has one client, which sends one request at a time. */
const CLIENTS_OF_MEMBER = 4

/** A request about a loan. */
interface Asked {
  readonly loan: string
  /** Whether there is the loan when the request was done. */
  readonly isBorrow: boolean
  /** Whether the answer says that there is the loan; undefined without such an answer. */
  isLent?: boolean | undefined
}

/** What an answer says: whether the loan is there. A refused borrow says that it is not. */
const MEANINGS: Readonly<Record<string, boolean>> = {
  'PUT 200': true,
  'PUT 409': false,
  'DELETE 204': false,
  'DELETE 404': false,
}

/** Records the requests, in order. The number of a request is its place. */
export class LendingRecord {
  readonly asked: Asked[] = []
  /** How often each answer was given, such as `PUT 200`. */
  readonly answers = new Map<string, number>()

  /** How many requests were answered, by an answer that says whether there is the loan. */
  get answered(): number {
    return this.asked.filter(({ isLent }) => isLent !== undefined).length
  }

  /** Whether there is a loan, as far as its client knows. */
  isLent(loan: string): boolean {
    return (
      this.asked.findLast((asked) => asked.loan === loan && asked.isLent !== undefined)?.isLent ??
      false
    )
  }

  /**
   * The loans that an answer says are there and are not, or the other way round.
   * @param isSeen whether the answer to a request was seen; by default each was
   */
  violations(
    { loans }: Pick<Stock, 'loans'>,
    isSeen: (place: number) => boolean = () => true,
  ): string[] {
    const requests = Map.groupBy(this.asked.keys(), (place) => this.asked[place]?.loan ?? '')
    const wrong = [...requests].filter(
      ([loan, places]) => !this.#statesAfter(places, isSeen).has(loans.has(loan)),
    )
    const unknown = [...loans].filter((loan) => !requests.has(loan))
    return [
      ...wrong.map(([loan]) => `${loan} is ${loans.has(loan) ? 'there' : 'lost'}`),
      ...unknown.map((loan) => `nobody borrowed ${loan}`),
    ]
  }

  /** Whether there may be the loan, and whether there may be none, after its requests. */
  #statesAfter(places: readonly number[], isSeen: (place: number) => boolean): Set<boolean> {
    let states = new Set([false])
    for (const place of places) {
      const { isBorrow, isLent } = this.asked[place] ?? { isBorrow: false }
      if (isLent !== undefined && isSeen(place)) states = new Set([isLent])
      else states.add(isBorrow)
      // The client sent the next request after this answer.
      if (isLent !== undefined && !isSeen(place)) break
    }
    return states
  }
}

/**
 * Lets 32 clients borrow and return, until `isOver` or until their service is gone. The request id is `lend-` and the place of the
 * request in the record.
 * @param ports of replicas of a service. Each has clients of all members
 */
export async function lend(
  ports: readonly number[],
  token: string,
  record: LendingRecord,
  isOver: () => boolean,
): Promise<void> {
  const agent = new Agent({ keepAlive: true })
  const ask = async (port: number, member: string, isbn: string) => {
    const loan = loanOf(member, isbn)
    const isBorrow = !record.isLent(loan)
    const asked: Asked = { loan, isBorrow }
    const headers = { 'X-Request-Id': `lend-${record.asked.push(asked) - 1}` }
    const method = isBorrow ? 'PUT' : 'DELETE'
    const path = `/members/${member}/loans/${isbn}`
    const { status, text } = await request(port, { method, path, token, headers, agent })
    const answer = `${method} ${status}`
    record.answers.set(answer, (record.answers.get(answer) ?? 0) + 1)
    asked.isLent = MEANINGS[answer]
    if (asked.isLent !== undefined) return
    if (status !== 503) throw new Error(`${method} ${path} was answered ${status} ${text}`)
    await delay(100) // a refused client waits a little
  }
  const client = async (member: string, place: number) => {
    const isbns = ISBNS.filter((_, index) => index % CLIENTS_OF_MEMBER === place)
    const port = ports[place % ports.length] ?? 0
    while (!isOver()) await ask(port, member, isbns[Math.floor(Math.random() * isbns.length)] ?? '')
  }
  const gone = (error: unknown) => {
    if (!(error instanceof Error && 'code' in error)) throw error
  }
  const places = [...Array(CLIENTS_OF_MEMBER).keys()]
  const clients = MEMBERS.flatMap((member) =>
    places.map((place) => client(member, place).catch(gone)),
  )
  await Promise.all(clients)
  agent.destroy()
}
