// Collects the cursors of a list.
import fc from 'fast-check'
import type { Operation } from '../contract/contract.ts'
import type { Answer, Call } from '../http/call.ts'
import { isCursor, takes } from './parameters.ts'
import { exampleOf, inputsOf, toCall, withTexts } from './requests.ts'

type Send = (request: Call) => Promise<Answer>

/** The most pages to request. */
const MOST = 10

/**
 * The cursors in the Links of a list, page by page; none if the operation takes no cursor.
 * @param ordered the operations in order: the ones before the list make its items
 * @param send sends a request of one caller
 */
export async function cursorsOf(
  operation: Operation,
  ordered: readonly Operation[],
  send: Send,
): Promise<string[]> {
  if (!operation.parameters.some(isCursor)) return []
  for (const earlier of ordered.slice(0, ordered.indexOf(operation))) {
    for (const input of fc.sample(inputsOf(earlier), { numRuns: 5, seed: 1 }))
      await send(toCall(earlier, input))
  }
  const limit = operation.parameters.find(
    (parameter) => parameter.name === 'limit' && takes(parameter, '1'),
  )
  const example = exampleOf(operation)
  const first = toCall(operation, limit === undefined ? example : withTexts(example, limit, '1'))
  const cursors: string[] = []
  for (let { path } = first; cursors.length < MOST;) {
    const { headers } = await send({ ...first, path })
    const [, next] = /<([^>]*)>; *rel="?next\b/.exec(String(headers['link'])) ?? []
    if (next === undefined) break
    const { pathname, search, searchParams } = new URL(next, `http://host${path}`)
    path = pathname + search
    cursors.push(searchParams.get('cursor') ?? '')
  }
  return cursors
}
