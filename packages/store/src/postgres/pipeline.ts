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

/** A statement with its parameters. */
export interface Step {
  readonly statement: Statement
  readonly values: Cells
}

/** Statements that are sent together. */
export interface Calls {
  readonly steps: readonly Step[]
  /** How many have run. After an error of a statement, its index. */
  done: number
}

/** Runs a statement for each row of parameters. */
export function callsOf(statement: Statement, parameters: readonly Cells[]): Calls {
  return toCalls(parameters.map((values) => ({ statement, values })))
}

export function toCalls(steps: readonly Step[]): Calls {
  return { steps, done: 0 }
}

/** Gets the returned or written rows of each statement, or the error. */
type Settle = Pick<PromiseWithResolvers<Cells[][]>, 'resolve' | 'reject'>

/**
 * Runs statements. All are sent together, and are one transaction unless another one is open: if one
 * fails, none is done.
 * https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-FLOW-PIPELINING
 */
export class Pipeline implements pg.Submittable {
  /** pg calls it, too, after `query_timeout`. */
  callback: (error: Error | null) => void
  steps: readonly Step[]
  readonly #isPrepared: boolean
  #results: Cells[][] = []
  #rows: Cells[] = []
  #calls: Calls | undefined
  #settle: Settle | undefined
  #stopListening: (() => void) | undefined

  /** @param isPrepared whether the connection keeps the statements under their names */
  constructor(isPrepared: boolean, calls: Calls, settle: Settle) {
    this.#isPrepared = isPrepared
    this.callback = this.#end.bind(this)
    this.steps = calls.steps
    this.#calls = calls
    calls.done = 0
    this.#settle = settle
  }

  /** pg calls it when the connection is free. */
  submit(connection: pg.Connection): void {
    const kept = keptBy(connection)
    const parsed: Statement[] = []
    let last: Statement | undefined
    connection.stream.cork() // one packet
    for (const { statement, values } of this.steps) {
      const { text } = statement
      const name = this.#isPrepared ? statement.name : ''
      const isParsed = name === '' ? statement === last : name in kept || parsed.includes(statement)
      if (!isParsed) {
        connection.parse({ name, text, types: [] }, true)
        parsed.push(statement)
      }
      last = statement
      connection.bind({ statement: name, values: [...values] }, true)
      connection.execute({}, true)
    }
    if (parsed.length > 0) this.#awaitParsed(connection, parsed)
    connection.sync()
    connection.stream.uncork()
  }

  /** Notes the statements that the server has parsed, in their order. After an error there may be fewer. */
  #awaitParsed(connection: pg.Connection, statements: readonly Statement[]): void {
    const kept = keptBy(connection)
    const waiting = statements.values()
    const keep = () => {
      const { value } = waiting.next()
      if (value !== undefined && this.#isPrepared) kept[value.name] = value.text
    }
    connection.on('parseComplete', keep)
    this.#stopListening = () => connection.off('parseComplete', keep)
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
    const calls = this.steps.length
    this.#settle = undefined
    this.#calls = undefined
    this.steps = []
    this.#stopListening?.()
    this.#stopListening = undefined
    this.#results = []
    this.#rows = []
    if (error !== null) settle?.reject(error)
    else if (results.length === calls) settle?.resolve(results)
    else settle?.reject(new Error(`the server has answered ${results.length} of ${calls} calls`))
  }
}

/** The statements that a connection keeps, by their names. The types of pg do not have it. */
function keptBy(connection: pg.Connection): Record<string, string> {
  return Reflect.get(connection, 'parsedStatements') as Record<string, string>
}
