import type { DatabaseSync, SQLInputValue, SQLOutputValue, StatementResultingChanges, StatementSync } from 'node:sqlite'
import type { SqlRunner } from './errors.ts'

type Row = Record<string, SQLOutputValue>

/**
 * Runs SQL that is written as a tagged template: its values are bound, each template is prepared once, and errors are
 * translated.
 * `createTagStore()` of node:sqlite does the same, but in Node 24 its statements stay open when the database is closed,
 * and with them the file, the log and a transaction.
 */
export class Statements {
  readonly #db: DatabaseSync
  readonly #runner: SqlRunner
  readonly #prepared = new Map<TemplateStringsArray, StatementSync>()

  constructor(db: DatabaseSync, runner: SqlRunner) {
    this.#db = db
    this.#runner = runner
  }

  /** @returns the first row, or undefined if there is none */
  get(sql: TemplateStringsArray, ...values: SQLInputValue[]): Row | undefined {
    return this.#runner.run(() => this.#prepare(sql).get(...values))
  }

  /** @returns each row */
  all(sql: TemplateStringsArray, ...values: SQLInputValue[]): Row[] {
    return this.#runner.run(() => this.#prepare(sql).all(...values))
  }

  /** @returns how many rows it has changed */
  run(sql: TemplateStringsArray, ...values: SQLInputValue[]): StatementResultingChanges {
    return this.#runner.run(() => this.#prepare(sql).run(...values))
  }

  #prepare(sql: TemplateStringsArray): StatementSync {
    let statement = this.#prepared.get(sql)
    if (statement === undefined) {
      statement = this.#db.prepare(sql.join('?'))
      this.#prepared.set(sql, statement)
    }
    return statement
  }
}
