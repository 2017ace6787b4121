// Suggests one `errorBody` for all errors that the service can't write by itself, ready to paste.
import type { Oas3_1Definition } from '@redocly/openapi-core'
import { type DescribedError, findMisfit } from '@plant-store/engine/for-compiler'
import { bodyOf, type Part } from './error-body.ts'
import { valueCode } from './printing.ts'

/** Errors with one schema. */
interface Form {
  readonly schema: unknown
  readonly errors: readonly DescribedError[]
}

export interface Suggestion {
  /** The function as TypeScript. */
  readonly text: string
  /** The errors whose bodies fit, each with its body. */
  readonly written: ReadonlyMap<DescribedError, Part>
}

/** A body, and the errors that have it. */
interface Branch {
  readonly body: Part
  readonly errors: readonly DescribedError[]
}

/** A condition: as TypeScript, with the names of the parameters that it uses. */
type Condition = Pick<Part, 'text' | 'uses'>

/**
 * Makes one function for several forms of errors. If the body of one form does not fit all of them, the function has branches.
 * @param undescribed errors that have these forms if the function can write them
 */
export function suggestErrorBody(
  root: Oas3_1Definition,
  forms: readonly Form[],
  undescribed: readonly DescribedError[],
): Suggestion {
  const bodies = forms.flatMap((form) => {
    const findError = (write: Part['make']) => firstError(form.errors, write)
    return bodyOf(root, form.schema, findError) ?? []
  })
  const errors = forms.flatMap((form) => form.errors)
  const branches = branchesFor(bodies, [...errors, ...undescribed])
  const written = branches.flatMap(({ body, errors }) =>
    errors.map((error) => [error, body] as const),
  )
  return { text: functionOf(branches), written: new Map(written) }
}

function firstError(errors: readonly DescribedError[], write: Part['make']): string | undefined {
  for (const described of errors) {
    const misfit = findMisfit(described, write)
    if (misfit !== undefined) return misfit.error
  }
  return undefined
}

/** Gives each error a body. The body that fits most errors is first, and then always the body that fits most of the remaining errors. */
function branchesFor(bodies: readonly Part[], errors: readonly DescribedError[]): Branch[] {
  let candidates = bodies.map((body): Branch => ({ body, errors: fittedBy(body, errors) }))
  const branches: Branch[] = []
  for (;;) {
    const [heaviest] = candidates.toSorted((left, right) => weightOf(right) - weightOf(left))
    if (heaviest === undefined || heaviest.errors.length === 0) return branches
    branches.push(heaviest)
    const taken = new Set(heaviest.errors)
    candidates = candidates.map((branch) => ({
      ...branch,
      errors: branch.errors.filter((described) => !taken.has(described)),
    }))
  }
}

/** The errors that a body fits. */
function fittedBy(body: Part, errors: readonly DescribedError[]): DescribedError[] {
  return errors.filter((described) => findMisfit(described, body.make) === undefined)
}

/** How many errors a branch has, each with each of its statuses. */
function weightOf({ errors }: Branch): number {
  return errors.flatMap(({ statuses }) => statuses).length
}

/** @param branches the first one is for all errors that the others do not name */
function functionOf(branches: readonly Branch[]): string {
  const [last, ...rest] = branches
  if (last === undefined) return ''
  const conditions = rest.map((branch, index) => {
    const heavier = branches.slice(0, index + 1).flatMap(({ errors }) => errors)
    return conditionOf(branch.errors, heavier)
  })
  const uses = [...branches.map(({ body }) => body), ...conditions].flatMap((part) => part.uses)
  const { text } = last.body
  const isObjectText = text.startsWith('{')
  if (rest.length === 0) return `${parametersFor(uses)} => ${isObjectText ? `(${text})` : text}`
  const returns = rest.map(({ body }, index) => {
    const condition = conditions[index]?.text ?? ''
    return `if (${condition}) return ${body.text}; `
  })
  return `${parametersFor(uses)} => { ${returns.toReversed().join('')}return ${text} }`
}

/** The parameters of a function that uses these names. TypeScript may refuse a parameter that is not used. */
function parametersFor(uses: readonly string[]): string {
  const ofOrigin = ['path', 'id', 'operationId'].filter((name) => uses.includes(name))
  const parameters = [
    uses.includes('status') ? 'status' : '_status',
    uses.includes('message') ? 'message' : '_message',
    ...(ofOrigin.length > 0 ? [`{ ${ofOrigin.join(', ')} }`] : []),
  ]
  const used = parameters.findLastIndex((name) => !name.startsWith('_'))
  return `(${parameters.slice(0, used + 1).join(', ')})`
}

/** Tells errors from others: by the status, by the operation, or by both. */
function conditionOf(
  errors: readonly DescribedError[],
  others: readonly DescribedError[],
): Condition {
  const statuses = statusesOf(errors)
  const otherStatuses = statusesOf(others)
  if (statuses.isDisjointFrom(otherStatuses)) return ofStatus(statuses, otherStatuses)
  const otherIds = new Set(others.map(({ operation }) => operation.id))
  const byId = Map.groupBy(errors, ({ operation }) => operation.id)
  const byStatuses = Map.groupBy(byId.keys(), (id) =>
    otherIds.has(id) ? [...statusesOf(byId.get(id) ?? [])].join() : '',
  )
  const alternatives = [...byStatuses].map(([list, ids]): Condition => {
    const operation = isOneOf('operationId', ids)
    if (list === '') return { text: operation, uses: ['operationId'] }
    const both = `${operation} && ${isOneOf('status', list.split(',').map(Number))}`
    const text = byStatuses.size === 1 ? both : `(${both})`
    return { text, uses: ['operationId', 'status'] }
  })
  return {
    text: alternatives.map(({ text }) => text).join(' || '),
    uses: alternatives.flatMap(({ uses }) => uses),
  }
}

function ofStatus(statuses: ReadonlySet<number>, others: ReadonlySet<number>): Condition {
  const isOfServer = (status: number) => status >= 500
  const uses = ['status']
  if ([...statuses].every(isOfServer) && ![...others].some(isOfServer))
    return { text: 'status >= 500', uses }
  if (![...statuses].some(isOfServer) && [...others].every(isOfServer))
    return { text: 'status < 500', uses }
  const isMostOfAll = statuses.size > others.size
  return { text: isMostOfAll ? isNoneOf('status', others) : isOneOf('status', statuses), uses }
}

function isOneOf(name: string, values: Iterable<unknown>): string {
  const list = [...values].map(valueCode)
  return list.length === 1 ? `${name} === ${list.join()}` : `[${list.join(', ')}].includes(${name})`
}

function isNoneOf(name: string, values: Iterable<unknown>): string {
  const text = isOneOf(name, values)
  return text.startsWith('[') ? `!${text}` : text.replace('===', '!==')
}

const statusesOf = (errors: readonly DescribedError[]) =>
  new Set(errors.flatMap(({ statuses }) => statuses))
