// Sends the examples of a contract in an order in which they work together.
import type { Operation } from '../contract/contract.ts'
import type { Answer } from '../http/call.ts'

/** Whether an operation was done. */
export const isDone = ({ status }: Pick<Answer, 'status'>) => status >= 200 && status < 400

/**
 * Sends the example of each operation. An item is made before the items that need it, so the first DELETE may be refused: a
 * refused DELETE is sent again at the end, the last one first.
 * @returns the last answer of each operation
 */
export async function askExamples<Answered extends Pick<Answer, 'status'>>(
  ordered: readonly Operation[],
  ask: (operation: Operation) => Promise<Answered>,
): Promise<{ operation: Operation; answer: Answered }[]> {
  const asked: { operation: Operation; answer: Answered }[] = []
  for (const operation of ordered) asked.push({ operation, answer: await ask(operation) })
  const refused = asked.filter(
    ({ operation, answer }) => operation.method === 'DELETE' && !isDone(answer),
  )
  for (const deletion of refused.reverse()) deletion.answer = await ask(deletion.operation)
  return asked
}
