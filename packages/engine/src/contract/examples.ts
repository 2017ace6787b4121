// The examples of a contract that is being written: what `npm run dev` answers for a method that is missing.

/** An answer as the contract shows it. */
export interface Example {
  readonly status: number
  /** Its name in `examples`; absent if it has none. */
  readonly name?: string
  /** Absent if the answer has none. */
  readonly body?: unknown
  /** Whether the body is the data of an event: the answer is a stream of this event. */
  readonly isEvent?: true
}

/** The examples of an operation. */
export interface OperationExamples {
  /** Successes first. */
  readonly answers: readonly Example[]
  /** A method that answers the first example, ready to paste. */
  readonly method: string
}

/** The examples of a contract that is being written. */
export interface ContractExamples {
  /** By the ids of the operations. */
  readonly operations: ReadonlyMap<string, OperationExamples>
  /** Whether a request that wishes for none gets the first one. */
  readonly isUnasked: boolean
}
