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
  const example = answers.find((candidate) =>
    hasPreference ? fulfils(candidate, preferred) : !isAnyError(candidate),
  )
  if (example === undefined || !(hasPreference || isUnasked))
    throw new HttpError(
      501,
      `${missing}. ${listOf(answers)}${adviseFor(lacking)}. To begin with, paste:\n${method}`,
    )
  return toAnswer(example, hasPreference ? appliedFor(example, preferred) : undefined)
}

/** @param applied the preference that it fulfils; undefined if nobody asked for it */
function toAnswer(
  { status, type, body, isEvent, ...example }: Example,
  applied: string | undefined,
): Answer {
  const headers = {
    ...example.headers,
    ...(applied !== undefined && { 'preference-applied': applied }),
  }
  if (body === undefined) return { status, headers }
  const content = { body: isEvent ? streamOf(body) : body }
  return { status, headers, ...(type !== undefined && { type }), ...content }
}

function appliedFor(example: Example, { code }: PreferredExample): string {
  if (example.name !== undefined) return wishFor(example)
  return `code=${code ?? example.status}`
}

async function* streamOf(data: unknown) {
  yield { data }
}

/** A preference with its parameters: a quoted string may have commas and semicolons. */
const PREFERENCE = /(?:"(?:[^"\\]|\\.)*"|[^",])+/g
/** The name and the value of a preference, which is a token or a quoted string. */
const NAME_AND_VALUE = /^\s*([^\s=;]+)\s*(?:=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;]*)))?/

/** Reads a header `Prefer` (RFC 7240, section 2). Of a preference that stands twice, the first one counts. */
function readPreferred(prefer: string): PreferredExample {
  const values = new Map<string, string>()
  for (const [preference] of prefer.matchAll(PREFERENCE)) {
    const [, name = '', quoted, token = ''] = NAME_AND_VALUE.exec(preference) ?? []
    const value = quoted?.replaceAll(/\\(.)/g, '$1') ?? token
    const key = name.toLowerCase()
    if (!values.has(key)) values.set(key, value)
  }
  return { code: values.get('code'), example: values.get('example') }
}

function fulfils({ name, status, range }: Example, { code, example }: PreferredExample): boolean {
  const codes = [String(status), range?.toLowerCase()]
  const hasCode = code === undefined || codes.includes(code.toLowerCase())
  return hasCode && (example === undefined || example === name)
}

/** Whether an example is that of `default`, beside a success: only who asks for it gets it. */
const isAnyError = ({ range, status }: Example) => range === 'default' && status >= 500

/** The preference for an example. */
function wishFor({ name, status, range }: Example): string {
  return name === undefined ? `code=${range ?? status}` : `example=${name}`
}

function adviseFor(lacking: readonly number[]): string {
  if (lacking.length === 0) return ''
  return `. None can be made for ${lacking.join(', ')}: give an "example" in the contract`
}

function listOf(answers: readonly Example[]): string {
  if (answers.length === 0) return 'The contract has no example of its answer'
  const wishes = answers.map(wishFor)
  return `By a header Prefer it answers an example: ${wishes.join('; ')}`
}
