import type { DatabaseSync, SQLInputValue, SQLOutputValue, StatementResultingChanges, StatementSync } from 'node:sqlite'
import type { Monitor } from '../store.ts'
import { finalMessage, isTemporary } from './errors.ts'
import { StoreUnavailable } from '../../errors.ts'

type Row = Record<string, SQLOutputValue>

/** Runs SQL and translates its errors. After a final error it refuses every later call. */
export class SqlRunner {
  readonly #db: DatabaseSync
  readonly #onFailure: Monitor['onFailure']
  #failure: unknown

  constructor(db: DatabaseSync, onFailure: Monitor['onFailure'] = () => undefined) {
    this.#db = db
    this.#onFailure = onFailure
  }

  /** @throws {StoreUnavailable} for a temporary error, for a final one, and for every call after that */
  run<Value>(sql: () => Value): Value {
    if (this.#failure !== undefined) throw new StoreUnavailable('the store has failed', { cause: this.#failure })
    try {
      return sql()
    } catch (error) {
      const message = finalMessage(error, this.#db)
      if (message !== undefined) this.fail(message, error)
      if (!isTemporary(error)) throw error
      throw new StoreUnavailable(String(error), { cause: error })
    }
  }

  /** Reports a final error. @throws {StoreUnavailable} */
  fail(message: string, error: unknown): never {
    if (this.#failure === undefined) this.#onFailure(message, error)
    this.refuse(error)
    throw new StoreUnavailable(message, { cause: error })
  }

  /** Refuses every later call. */
  refuse(reason: unknown): void {
    this.#failure ??= reason
  }
}

/**
 * Runs SQL from tagged templates: binds their values, prepares each template once, and translates errors.
 * `createTagStore()` of node:sqlite does the same. But in Node 24 its statements stay open when the database is closed,
 * and keep the file, the log and a transaction open.
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

  /** @returns how many rows the statement changed */
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
