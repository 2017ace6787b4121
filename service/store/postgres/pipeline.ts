import type pg from 'pg'

/** The values of a row in the order of its columns, as text. */
export type Cells = readonly (string | null)[]

/** A statement that many rows of parameters share. @param name under which a connection prepares it once */
export interface Statement {
  readonly name: string
  readonly text: string
}

/** Gets the rows that each row of parameters returned or wrote, or the error. */
type Settle = Pick<PromiseWithResolvers<Cells[][]>, 'resolve' | 'reject'>

/**
 * Runs a statement once for each row of parameters. All are sent at once, and are one transaction: if one fails, none is done.
 * https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-FLOW-PIPELINING
 */
export class Pipeline implements pg.Submittable {
  /** pg notes which names a connection has prepared. */
  readonly name: string | undefined
  readonly text: string
  /** pg calls it, too: when `query_timeout` is over. */
  callback: (error: Error | null) => void
  parameters: readonly Cells[]
  #results: Cells[][] = []
  #rows: Cells[] = []
  #settle: Settle | undefined

  /** @param name under which the connection keeps the statement; undefined if it does not keep it */
  constructor(
    name: string | undefined,
    text: string,
    parameters: readonly Cells[],
    settle: Settle,
  ) {
    this.name = name
    this.text = text
    this.callback = this.#end.bind(this)
    this.parameters = parameters
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
    this.#rows = []
  }

  handleError(error: Error): void {
    this.callback(error)
  }

  handleReadyForQuery(): void {
    this.callback(null)
  }

  /**
   * Settles, and forgets the rows. pg assigns a function around `callback` to this object. V8 puts such a function among its old
   * objects, and the function would keep the rows until the next full garbage collection.
   */
  #end(error: Error | null): void {
    const settle = this.#settle
    const results = this.#results
    this.#settle = undefined
    this.parameters = []
    this.#results = []
    this.#rows = []
    if (error === null) settle?.resolve(results)
    else settle?.reject(error)
  }
}

function isPrepared(connection: pg.Connection, name: string): boolean {
  const prepared: unknown = Reflect.get(connection, 'parsedStatements') // the types of pg do not have it
  return typeof prepared === 'object' && prepared !== null && name in prepared
}
