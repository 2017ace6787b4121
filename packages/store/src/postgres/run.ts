// Runs statements on a session: a single one, one for each row of parameters, or all of a transaction.
import pg from 'pg'
import { type Calls, type Cells, Pipeline, toCalls } from './pipeline.ts'
import type { Row, Session } from './session.ts'

/** The result of a statement: its rows, and the number of returned or written rows. */
export type Result = Pick<pg.QueryResult<Row>, 'rows' | 'rowCount'>

export type Run<Value> = (session: Session) => Promise<Value>

/** How the statements of a transaction are run. */
export interface Together {
  readonly begin: string
  /** Whether each statement is sent by itself: some poolers read one at a time. */
  readonly isApart: boolean
  /** Whether the rows are as they should be, so that the transaction is committed; absent: it is. */
  readonly isGood?: (rows: readonly (readonly Cells[])[]) => boolean
}

/** The settings that bound a statement. */
const LIMITS = ['lock_timeout', 'statement_timeout']
const COMMIT = { statement: { name: 'COMMIT', text: 'COMMIT' }, values: [] }

/** Runs one statement. @param timeout after which the connection is closed; the pool's timeout if absent */
export function runQuery(
  session: Session,
  text: string,
  values: unknown[],
  timeout: number | undefined,
): Promise<Result> {
  const query = { text, values, query_timeout: timeout } // the types of pg lack it
  return session.query<Row>(query)
}

/**
 * Runs a statement that waits for locks as long as it takes. Behind a pooler the limits stay: they
 * are those of a role.
 * @param timeout as for `runQuery`
 */
export async function runUnbounded(
  session: Session,
  text: string,
  timeout: number,
): Promise<Result> {
  if (!session.isPrepared) return runQuery(session, text, [], timeout)
  const { rows } = await session.query<Row>(`SELECT ${LIMITS.map(limitNow).join(', ')}`)
  await session.query(LIMITS.map((name) => `SET ${name} = 0`).join('; '))
  const restore = LIMITS.map((name) => `SET ${name} = '${String(rows[0]?.[name])}'`).join('; ')
  return runQuery(session, text, [], timeout).finally(() => session.query(restore))
}

function limitNow(name: string): string {
  return `current_setting('${name}') AS ${name}`
}

/** Runs a statement once for each row of parameters. */
export function runEach(session: Session, calls: Calls): Promise<Cells[][]> {
  const { promise, resolve, reject } = Promise.withResolvers<Cells[][]>()
  session.query(new Pipeline(session.isPrepared, calls, { resolve, reject }))
  return promise
}

/** Runs statements like `runEach`, and undoes them. */
export async function runUndone(session: Session, calls: Calls): Promise<Cells[][]> {
  await session.query('BEGIN')
  const rows = await orRollBack(session, runEach(session, calls))
  await session.query('ROLLBACK')
  return rows
}

/** Runs statements in a transaction, and commits it if their rows are as they should be. */
export async function runTogether(
  session: Session,
  calls: Calls,
  options: Together,
): Promise<Cells[][]> {
  const { isApart, begin, isGood } = options
  const ends = isGood === undefined ? [COMMIT] : []
  const steps = [{ statement: { name: begin, text: begin }, values: [] }, ...calls.steps, ...ends]
  const parts = isApart ? steps.map((step) => [step]) : [steps]
  const results: Cells[][] = []
  for (const part of parts) {
    const sent = toCalls(part)
    const ran = runEach(session, sent).finally(() => {
      calls.done = results.length + sent.done - 1 // without BEGIN
    })
    results.push(...(await orRollBack(session, ran)))
  }
  const rows = results.slice(1, calls.steps.length + 1)
  if (isGood !== undefined) await session.query(isGood(rows) ? 'COMMIT' : 'ROLLBACK')
  return rows
}

/** Ends the transaction if a statement of it fails. */
async function orRollBack<Value>(session: Session, ran: Promise<Value>): Promise<Value> {
  try {
    return await ran
  } catch (error) {
    const isOpen = error instanceof pg.DatabaseError // after another error the connection is closed
    if (isOpen) await session.query('ROLLBACK')
    throw error
  }
}
