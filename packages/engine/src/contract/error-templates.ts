// Fills in the body of an error from a template: JSON with placeholders for the status, the message
// and the request.
import { shorten } from '../errors.ts'
import type { ErrorOrigin } from '../http/error-answers.ts'
import { STATUS_CODES } from '../http/node.ts'

/**
 * JSON in which some strings are placeholders: `$status`, `$message`, … `$message:60` has at most 60 characters. Two dollar
 * signs at the beginning of a string stand for one.
 */
export type Template =
  | string
  | number
  | bigint
  | boolean
  | null
  | readonly Template[]
  | { readonly [name: string]: Template }

/** An error to write. */
export interface ErrorFacts extends ErrorOrigin {
  readonly status: number
  /** For people. */
  readonly message: string
}

/** The values of placeholders. */
const PLACEHOLDERS: Readonly<Record<string, (facts: ErrorFacts) => string | number>> = {
  $status: ({ status }) => status,
  $statusString: ({ status }) => String(status),
  /** Such as `E400`: many schemas allow only words as a code. */
  $code: ({ status }) => `E${status}`,
  $message: ({ message }) => message,
  /** Such as `Bad Request`. */
  $reason: ({ status }) => reasonPhrase(status),
  /** Such as `BAD_REQUEST`. */
  $reasonUpper: ({ status }) => words(status).toUpperCase(),
  $reasonLower: ({ status }) => words(status).toLowerCase(),
  $path: ({ path }) => path,
  $id: ({ id }) => id,
  $operationId: ({ operationId }) => operationId,
  $time: () => new Date().toISOString(),
  $day: () => new Date().toISOString().slice(0, 'yyyy-mm-dd'.length),
  $seconds: () => Math.floor(Date.now() / 1000),
  $milliseconds: () => Date.now(),
}

const reasonPhrase = (status: number) => STATUS_CODES[status] ?? ''
const words = (status: number) => reasonPhrase(status).replaceAll(/\W+/g, '_')

/** Makes the template of a constant. */
export function literal(value: unknown): Template {
  if (typeof value === 'string') return value.startsWith('$') ? `$${value}` : value
  if (Array.isArray(value)) return value.map(literal)
  if (typeof value !== 'object' || value === null) return value as Template
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, literal(part)]))
}

/** Whether a template contains a placeholder. */
export function has(template: Template, placeholder: string): boolean {
  if (typeof template === 'string') return template.split(':')[0] === placeholder
  if (typeof template !== 'object' || template === null) return false
  return Object.values(template).some((part: Template) => has(part, placeholder))
}

/** Fills in a template. @returns JSON */
export function fillIn(template: Template, facts: ErrorFacts): unknown {
  if (typeof template === 'string') return fillInString(template, facts)
  if (Array.isArray(template)) return template.map((item: Template) => fillIn(item, facts))
  if (typeof template !== 'object' || template === null) return template
  const members = Object.entries(template).map(([name, value]) => [name, fillIn(value, facts)])
  return Object.fromEntries(members)
}

function fillInString(template: string, facts: ErrorFacts): string | number {
  if (template.startsWith('$$')) return template.slice(1)
  const [name = '', most] = template.split(':')
  const valueOf = PLACEHOLDERS[name]
  if (valueOf === undefined) return template
  const value = valueOf(facts)
  return most === undefined ? value : shorten(String(value), Number(most))
}
