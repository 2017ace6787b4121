// Runs a statement for many rows of parameters in one packet.
import type pg from 'pg'

/** The values of a row in the order of its columns, as strings. */
export type Cells = readonly (string | null)[]

/**
 * A statement for many rows of parameters. @param name under which a connection prepares it once
 */
export interface Statement {
  readonly name: string
  readonly text: string
}

/** Rows of parameters: the statement is run for each of them. */
export interface Calls {
  readonly parameters: readonly Cells[]
  /** How many have run. After an error of a statement, the index of its row. */
  done: number
}

export function callsOf(parameters: readonly Cells[]): Calls {
  return { parameters, done: 0 }
}

/** Gets the returned or written rows for each row of parameters, or the error. */
type Settle = Pick<PromiseWithResolvers<Cells[][]>, 'resolve' | 'reject'>

/**
 * Runs a statement once for each row of parameters. All are sent together in one transaction: if
 * one fails, none is done.
 * https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-FLOW-PIPELINING
 */
export class Pipeline implements pg.Submittable {
  /** pg reads it, to keep the names of a connection's prepared statements. */
  readonly name: string | undefined
  readonly text: string
  /** pg calls it, too, after `query_timeout`. */
  callback: (error: Error | null) => void
  parameters: readonly Cells[]
  #results: Cells[][] = []
  #rows: Cells[] = []
  #calls: Calls | undefined
  #settle: Settle | undefined

  /** @param name under which the connection keeps the statement; undefined to forget it */
  constructor(name: string | undefined, text: string, calls: Calls, settle: Settle) {
    this.name = name
    this.text = text
    this.callback = this.#end.bind(this)
    this.parameters = calls.parameters
    this.#calls = calls
    calls.done = 0
    this.#settle = settle
  }

  /** pg calls it when the connection is free. */
  submit(connection: pg.Connection): void {
    const { name = '', text } = this
    connection.stream.cork() // one packet
    if (!isPrepared(connection, name)) connection.parse({ name, text, types: [] }, true)
    for (const values of this.parameters) {
      connection.bind({ statement: name, values: [...values] }, true)
      connection.execute({}, true)
    }
    connection.sync()
    connection.stream.uncork()
  }

  handleDataRow({ fields }: { readonly fields: Cells }): void {
    this.#rows.push(fields)
  }

  handleCommandComplete(): void {
    this.#results.push(this.#rows)
    if (this.#calls) this.#calls.done += 1
    this.#rows = []
  }

  handleError(error: Error): void {
    this.callback(error)
  }

  handleReadyForQuery(): void {
    this.callback(null)
  }

  /**
   * Settles, and forgets the rows. pg assigns a function around `callback` to this object. V8 puts
   * such a function among its old objects, and it would keep the rows until the next full garbage
   * collection.
   */
  #end(error: Error | null): void {
    const settle = this.#settle
    const results = this.#results
    const calls = this.parameters.length
    this.#settle = undefined
    this.#calls = undefined
    this.parameters = []
    this.#results = []
    this.#rows = []
    if (error !== null) settle?.reject(error)
    else if (results.length === calls) settle?.resolve(results)
    else settle?.reject(new Error(`the server has answered ${results.length} of ${calls} calls`))
  }
}

function isPrepared(connection: pg.Connection, name: string): boolean {
  const prepared: unknown = Reflect.get(connection, 'parsedStatements') // the types of pg lack it
  return typeof prepared === 'object' && prepared !== null && name in prepared
}
