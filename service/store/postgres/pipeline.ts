import type pg from 'pg'

/** The values of a row in the order of its columns, as text. */
export type Cells = readonly (string | null)[]

/** A statement that many rows of parameters share. @param name under which a connection prepares it once */
export interface Statement {
  readonly name: string
  readonly text: string
}

/**
 * Runs a statement once for each row of parameters. All are sent at once, and are one transaction: if one fails, none is done.
 * https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-FLOW-PIPELINING
 */
export class Pipeline implements pg.Submittable {
  /** The rows that each row of parameters returned or wrote. */
  readonly results: Promise<Cells[][]>
  /** pg notes which names a connection has prepared. */
  readonly name: string | undefined
  readonly text: string
  /** pg calls it, too: when `query_timeout` is over. */
  callback: (error: Error | null) => void
  readonly parameters: readonly Cells[]
  readonly #results: Cells[][] = []
  #rows: Cells[] = []

  /** @param isPrepared whether the connection keeps the statement */
  constructor({ name, text }: Statement, parameters: readonly Cells[], isPrepared: boolean) {
    const { promise, resolve, reject } = Promise.withResolvers<Cells[][]>()
    this.results = promise
    this.name = isPrepared ? name : undefined
    this.text = text
    this.callback = (error) => {
      if (error === null) resolve(this.#results)
      else reject(error)
    }
    this.parameters = parameters
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
}

function isPrepared(connection: pg.Connection, name: string): boolean {
  const prepared: unknown = Reflect.get(connection, 'parsedStatements') // the types of pg do not have it
  return typeof prepared === 'object' && prepared !== null && name in prepared
}
