// The examples of an unfinished contract: `npm run dev` answers with them while a method is
// missing.

export interface Example {
  readonly status: number
  /** The range of its status in the contract, such as `5XX`, or `default`; absent for a single status. */
  readonly range?: string
  /** Its name in `examples`, if it has one. */
  readonly name?: string
  /** The media type of the body, if the contract has several, or a range. */
  readonly type?: string
  readonly headers?: Readonly<Record<string, string | number | bigint | boolean>>
  /** Absent for an answer without a body. */
  readonly body?: unknown
  /** Whether the body is the data of an event: the answer is a stream of this event. */
  readonly isEvent?: true
}

export interface OperationExamples {
  /** Successes first. */
  readonly answers: readonly Example[]
  /** The statuses without an example, and for which none can be made. */
  readonly lacking: readonly number[]
  /** A method to paste, which answers with the first example. */
  readonly method: string
}

export interface ContractExamples {
  /** By the ids of the operations. */
  readonly operations: ReadonlyMap<string, OperationExamples>
  /** Whether a request without `Prefer` gets the first example, too. */
  readonly isUnasked: boolean
}
