// Compiles the service's own errors for contract/error-forms.ts: who writes the body of each.
import { isDeepStrictEqual } from 'node:util'
import type { ErrorForm, ErrorFormat, Operation } from '../compiled.ts'
import { bodyKind } from '../bodies.ts'
import { bodyFault, OWN_STATUSES, statusesOf, writeForm } from '../error-forms.ts'
import type * as openapi from './document.ts'
import { derefEntries } from './references.ts'
import { mediaFault } from './messages.ts'
import type { Context } from './schemas.ts'
import { allMembers, allParts, textTypes } from './shapes.ts'

/** The usual format of an error. */
const USUAL = { type: 'application/json', form: { error: 'status', message: 'message' } } as const
const PRODUCT_WRITES = 'errorBody: (status, message) => ...'
const BY_ITSELF = 'the service answers this error by itself, in a form that it does not know'

/** The content of an error's member, by its name and type: the members of RFC 9457, and other usual names. */
const MEMBERS: readonly (readonly [name: RegExp, type: RegExp, given: ErrorForm[string]])[] = [
  [/^(error|code|status|statusCode|status_code)$/, /integer|number|int64/, 'status'],
  [/^(code|status|statusCode|status_code)$/, /string/, 'digits'],
  [/^type$/, /string/, 'blank'],
  [/^title$/, /string/, 'phrase'],
  [/^(message|detail|description|reason|error|error_description)$/, /string/, 'message'],
]

/** The formats of the service's own errors, by status. There are none if all are usual. They are complete after the tasks. */
export function readErrors(
  context: Context,
  responses: readonly (readonly [string, openapi.Response])[],
): Operation['errors'] {
  const errors: Record<string, ErrorFormat> = {}
  const found = new Map<string, ErrorFormat>()
  const described = responses.filter(([status]) => /^[45d]/.test(status))
  for (const [status, response] of described) {
    const decide = (format: ErrorFormat) => found.set(status, format)
    decide(readError(context, Object.fromEntries(described), status, response, decide))
  }
  if (context.product?.errorBody && described.length === 0)
    found.set('default', { ...USUAL, form: 'product', schema: null })
  context.errors.push(() => {
    const isUsual = found.values().every((each) => isDeepStrictEqual(each, USUAL))
    if (!isUsual) Object.assign(errors, Object.fromEntries(found))
  })
  return errors
}

/** Reads the format of an error; where its members decide it, `decide` is called later. */
function readError(
  context: Context,
  described: object,
  key: string,
  response: openapi.Response,
  decide: (format: ErrorFormat) => unknown,
): ErrorFormat {
  const { product, refuse, note, schemas } = context
  const all = derefEntries(response.content)
  const content = all.filter(([type, media]) => mediaFault(type, media, 'response') === undefined)
  if (all.length === 0) return null
  const own = statusesOf(described, key)
  const [type, media] = content.find(([each]) => ['json', 'text'].includes(bodyKind(each) as string)) ?? []
  if (type === undefined || media === undefined) {
    const fault = 'the service answers this error by itself, as JSON or text: write application/json'
    if (own.length > 0) refuse(response, fault, 'content')
    return USUAL
  }
  if (bodyKind(type) === 'text') return { type, form: null }
  if (media.schema === undefined)
    return product?.errorBody ? { type, form: 'product', schema: null } : { ...USUAL, type }

  const members = [...allMembers(allParts(media.schema))].flatMap(([name, member]) => {
    const found = MEMBERS.find(([names, types]) => names.test(name) && types.test(textTypes(member).join(' or ')))
    return found === undefined ? [] : [[name, found[2]] as const]
  })
  const form: ErrorForm = members.length > 0 ? Object.fromEntries(members) : USUAL.form
  const schema = schemas.add(media.schema, 'response')
  context.errors.push((checkOf) => {
    const statuses = own.length > 0 ? own : OWN_STATUSES.slice(0, 1) // only a method answers with another status
    const faultOf = (write: (status: number, message: string) => unknown) =>
      statuses.map((status) => bodyFault(checkOf(schema), write, status)).find((fault) => fault !== undefined)
    const isKnown = faultOf((status, message) => writeForm(form, status, message)) === undefined
    if (isKnown && members.length > 0 && isDeepStrictEqual({ type, form }, USUAL)) return
    const fault = product?.errorBody && faultOf(product.errorBody)
    if (product?.errorBody && fault === undefined) decide({ type, form: 'product', schema })
    else if (isKnown) {
      if (fault !== undefined) note(media, `${fault}: the service writes ${Object.keys(form).join(' and ')}`, 'schema')
    } else if (own.length === 0) decide(USUAL)
    else {
      if (product === undefined) note(media, `${BY_ITSELF}: the product writes it with ${PRODUCT_WRITES}`, 'schema')
      else refuse(media, fault ?? `${BY_ITSELF}: write ${PRODUCT_WRITES} in the product`, 'schema')
      decide({ type, form: 'product', schema })
    }
  })
  return { type, form }
}
