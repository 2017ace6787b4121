// Answers an operation without a method with an example of the contract, in `npm run dev`.
import { HttpError } from '../../errors.ts'
import type { Answer } from './answer.ts'
import type { Example, OperationExamples } from '../../contract/examples.ts'

/** The example preferred by a request: by its name, by its status, or by both. */
interface PreferredExample {
  readonly code: string | undefined
  readonly example: string | undefined
}

/**
 * Answers with the example of a request's wish.
 * @param missing says which method is missing
 * @param prefer the header `Prefer` of the request
 * @throws {HttpError} 501 with the names of the examples and the method to paste, if the request wishes for no example, or for
 *   one missing in the contract
 */
export function answerExample(
  missing: string,
  { answers, lacking, method }: OperationExamples,
  isUnasked: boolean,
  prefer: string,
): Answer {
  const preferred = readPreferred(prefer)
  const hasPreference = preferred.code !== undefined || preferred.example !== undefined
  const example = answers.find((candidate) => fulfils(candidate, preferred))
  if (example === undefined || !(hasPreference || isUnasked))
    throw new HttpError(
      501,
      `${missing}. ${listOf(answers)}${adviseFor(lacking)}. To begin with, paste:\n${method}`,
    )
  const { name, status, type, body, isEvent } = example
  const applied = name === undefined ? `code=${status}` : `example=${name}`
  const headers = { ...example.headers, ...(hasPreference && { 'preference-applied': applied }) }
  if (body === undefined) return { status, headers }
  const content = { body: isEvent ? streamOf(body) : body }
  return { status, headers, ...(type !== undefined && { type }), ...content }
}

async function* streamOf(data: unknown) {
  yield { data }
}

/**
 * Reads a header `Prefer` (RFC 7240, section 2): preferences with a value, which may be in quotes,
 * and commas between.
 */
function readPreferred(prefer: string): PreferredExample {
  const preferences = prefer.split(',').map((preference) => {
    const [name = '', value = ''] = preference.split('=', 2)
    return [name.trim().toLowerCase(), value.trim().replaceAll('"', '')] as const
  })
  const values = new Map(preferences)
  return { code: values.get('code'), example: values.get('example') }
}

function fulfils({ name, status }: Example, { code, example }: PreferredExample): boolean {
  const hasCode = code === undefined || code === String(status)
  return hasCode && (example === undefined || example === name)
}

function adviseFor(lacking: readonly number[]): string {
  if (lacking.length === 0) return ''
  return `. None can be made for ${lacking.join(', ')}: give an "example" in the contract`
}

function listOf(answers: readonly Example[]): string {
  if (answers.length === 0) return 'The contract has no example of its answer'
  const wishes = answers.map(({ name, status }) =>
    name === undefined ? `code=${status}` : `example=${name}`,
  )
  return `By a header Prefer it answers an example: ${wishes.join('; ')}`
}
