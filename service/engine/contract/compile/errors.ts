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

/** The formats of the service's own errors, by status. There are none if all are usual. The schemas must be complete. */
export function readErrors(context: Context, responses: openapi.Operation['responses'] = {}): Operation['errors'] {
  const described = derefEntries(responses).filter(([status]) => /^[45d]/.test(status))
  const errors = described.map(([status, response]): [string, ErrorFormat] => {
    const own = statusesOf(Object.fromEntries(described), status)
    return [status, readError(context, own, response)]
  })
  if (context.product?.errorBody && errors.length === 0) errors.push(['default', productWrites(USUAL.type, null)])
  return errors.every(([, each]) => isDeepStrictEqual(each, USUAL)) ? {} : Object.fromEntries(errors)
}

const productWrites = (type: string, schema: string | null) => ({ type, form: 'product', schema }) as const

/** Reads the format of an error. @param own the statuses that the service answers by itself */
function readError(context: Context, own: readonly number[], response: openapi.Response): ErrorFormat {
  const { product, schemas } = context
  const { refuse, note } = context.findings
  const all = derefEntries(response.content)
  const content = all.filter(([type, media]) => mediaFault(type, media, 'response') === undefined)
  if (all.length === 0) return null
  const [type, media] = content.find(([each]) => ['json', 'text'].includes(bodyKind(each) as string)) ?? []
  if (type === undefined || media === undefined) {
    const fault = 'the service answers this error by itself, as JSON or text: write application/json'
    if (own.length > 0) refuse(response, fault, 'content')
    return USUAL
  }
  if (bodyKind(type) === 'text') return { type, form: null }
  if (media.schema === undefined) return product?.errorBody ? productWrites(type, null) : { ...USUAL, type }

  const members = [...allMembers(allParts(media.schema))].flatMap(([name, member]) => {
    const found = MEMBERS.find(([names, types]) => names.test(name) && types.test(textTypes(member).join(' or ')))
    return found === undefined ? [] : [[name, found[2]] as const]
  })
  const form: ErrorForm = members.length > 0 ? Object.fromEntries(members) : USUAL.form
  const schema = schemas.add(media.schema)
  const check = schemas.check('body', { $ref: schema })
  const statuses = own.length > 0 ? own : OWN_STATUSES.slice(0, 1) // only a method answers with another status
  const faultOf = (write: (status: number, message: string) => unknown) =>
    statuses.map((status) => bodyFault(check, write, status)).find((fault) => fault !== undefined)
  const isKnown = faultOf((status, message) => writeForm(form, status, message)) === undefined
  if (isKnown && members.length > 0 && isDeepStrictEqual({ type, form }, USUAL)) return USUAL
  const fault = product?.errorBody && faultOf(product.errorBody)
  if (product?.errorBody && fault === undefined) return productWrites(type, schema)
  if (isKnown) {
    if (fault !== undefined) note(media, `${fault}: the service writes ${Object.keys(form).join(' and ')}`, 'schema')
    return { type, form }
  }
  if (own.length === 0) return USUAL
  if (product === undefined) note(media, `${BY_ITSELF}: the product writes it with ${PRODUCT_WRITES}`, 'schema')
  else refuse(media, fault ?? `${BY_ITSELF}: write ${PRODUCT_WRITES} in the product`, 'schema')
  return productWrites(type, schema)
}
