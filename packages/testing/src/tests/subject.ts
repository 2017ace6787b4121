// The service under test, and the state shared by the tests of all its operations.
import type { Test } from 'tap'
import type { Product } from '@plant-store/engine'
import { type Contract, contractOf, type Operation } from '../contract/contract.ts'
import type { Answer, Call } from '../http/call.ts'
import { exampleOf, inOrder, type Input, missingIn, toCall } from '../requests/requests.ts'
import type { Skipped } from '../schemas/violations.ts'
import { openStoreOf, type Service, startService } from '../service/start.ts'

/** Variables of the environment. */
export type Environment = Readonly<Record<string, string>>

/** Enough for a busy machine. */
const PATIENT: Environment = { DATABASE_TIMEOUT: '300', STALL_TIMEOUT: '600' }

export class Subject {
  readonly service: Service
  readonly contract: Contract
  /** The number of valid inputs for an operation. */
  readonly inputs: number
  /** The testable operations, in the order of their examples. */
  readonly ordered: readonly Operation[]
  /** Starts the same product once more, on a new store if it is a file. */
  readonly startAgain: (t: Test) => Promise<Service>
  #callers = 0

  private constructor(
    service: Service,
    contract: Contract,
    { inputs, startAgain }: Pick<Subject, 'inputs' | 'startAgain'>,
  ) {
    this.service = service
    this.contract = contract
    this.inputs = inputs
    this.startAgain = startAgain
    const { operations } = contract
    this.ordered = inOrder(
      operations.filter((operation) => this.unaskedFor(operation) === undefined),
    )
  }

  /** Starts a product. It ends with the test. */
  static async start(t: Test, product: Product, variables: Environment): Promise<Subject> {
    const isOnServer = variables['DATABASE_URL'] !== undefined
    const start = {
      product,
      environment: isOnServer ? { ...PATIENT, ...variables } : variables,
      openStore: openStoreOf.bind(undefined, product),
    }
    const startAgain = (t: Test) => startService(t, start)
    const [service, contract] = [await startAgain(t), await contractOf(product)]
    return new Subject(service, contract, { inputs: isOnServer ? 30 : 200, startAgain })
  }

  /** Whether all operations can be tested: some may need items made by others. */
  get isWhole(): boolean {
    return this.ordered.length === this.contract.operations.length
  }

  /** The reason why an operation can't be tested; undefined if it can. */
  unaskedFor(operation: Operation): string | undefined {
    const { isGuarded, credentials } = operation
    const { service } = this
    if (!service.isWritten(operation)) return 'its method is not written yet'
    if (isGuarded && !credentials) return 'only the product knows them'
    if (isGuarded && service.store === undefined) return 'the product has no store for tokens'
    const missing = missingIn(operation)
    return missing.length > 0 ? `give an example to ${missing.join(' and ')}` : undefined
  }

  /** The token of a new caller; none if the product has no store for tokens. */
  async newcomer(): Promise<string | undefined> {
    this.#callers += 1
    return this.service.store && this.service.token(`caller${this.#callers}`)
  }

  /** A caller who has sent the examples of the earlier operations. */
  async callerOf(operation: Operation): Promise<string | undefined> {
    const caller = await this.newcomer()
    for (const earlier of this.ordered.slice(0, this.ordered.indexOf(operation))) {
      if (earlier.method !== 'DELETE') await this.ask(earlier, exampleOf(earlier), caller)
    }
    return caller
  }

  /** Sends an input of an operation. @param caller the token */
  ask(operation: Operation, input: Input, caller: string | undefined): Promise<Answer> {
    return this.send(toCall(operation, input), caller)
  }

  send(request: Call, caller: string | undefined): Promise<Answer> {
    return this.service.call(signed(request, caller))
  }
}

/** A request with a token, if there is one. */
export function signed(request: Call, token: string | undefined): Call {
  return token === undefined ? request : { ...request, token }
}

/** Whether an answer refuses the request itself, whatever is stored. */
export const refuses = ({ status }: Answer) =>
  [400, 401, 405, 413, 415].includes(status) || status >= 500

/** Names the rules of a parameter or a body without a violation. */
export function nameSkipped(t: Test, where: string, skipped: readonly Skipped[]): void {
  for (const { rule, reason } of skipped) t.pass(`${where}${rule} is violated`, { skip: reason })
}
