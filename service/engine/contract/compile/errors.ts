// Compiles the service's own errors for contract/error-forms.ts: who writes the body of each.
import { isDeepStrictEqual } from 'node:util'
import type { ErrorForm, ErrorFormat, Operation } from '../compiled.ts'
import { bodyKind } from '../bodies.ts'
import { bodyFault, statusesOf, writeForm } from '../error-forms.ts'
import type * as openapi from './document.ts'
import { derefEntries } from './references.ts'
import { mediaFault } from './messages.ts'
import type { Context } from './schemas.ts'
import { allMembers, jointSchemas, textTypes } from './shapes.ts'

/** The usual format of an error. */
const USUAL = { type: 'application/json', form: { error: 'status', message: 'message' } } as const
const PRODUCT_WRITES = 'errorBody: (status, message) => ...'
const BY_ITSELF = 'the service answers this error by itself, in a form that it does not know'

/** What the service writes for a member, by its name and type: the members of RFC 9457, and other usual names. */
const MEMBERS: readonly (readonly [name: RegExp, type: RegExp, given: ErrorForm[string]])[] = [
  [/^(error|code|status|statusCode|status_code)$/, /integer|number|int64/, 'status'],
  [/^type$/, /string/, 'blank'],
  [/^title$/, /string/, 'phrase'],
  [/^(message|detail|description|reason|error|error_description)$/, /string/, 'message'],
]

/** The formats of the service's own errors, by status. There are none if all are usual. */
export function readErrors(
  context: Context,
  responses: openapi.Operation['responses'] = {},
): Operation['errors'] {
  const { product, schemas } = context
  const described = Object.fromEntries(derefEntries(responses))
  const errors = Object.entries(described).flatMap(([key, response]): [string, ErrorFormat][] => {
    const statuses = statusesOf(described, key)
    return statuses.length === 0 ? [] : [[key, readError(context, statuses, response)]]
  })
  if (product?.errorBody && errors.length === 0)
    return { default: { type: USUAL.type, form: 'product', schema: schemas.add(true) } }
  return errors.every(([, each]) => isDeepStrictEqual(each, USUAL))
    ? {}
    : Object.fromEntries(errors)
}

/** Reads the format of an error. @param statuses that the service answers by itself */
function readError(
  context: Context,
  statuses: readonly number[],
  response: openapi.Response,
): ErrorFormat {
  const { product, schemas } = context
  const { refuse, note } = context.findings
  const all = derefEntries(response.content)
  if (all.length === 0) return null
  const served = all.filter(([type, media]) => mediaFault(type, media, 'response') === undefined)
  const [type, media] =
    served.find(([each]) => ['json', 'text'].some((kind) => kind === bodyKind(each))) ?? []
  if (type === undefined || media === undefined) {
    refuse(
      response,
      'the service answers this error by itself, as JSON or text: write application/json',
      'content',
    )
    return USUAL
  }
  if (bodyKind(type) === 'text') return { type, form: 'text' }

  const members = [...allMembers(jointSchemas(media.schema))].flatMap(([name, member]) => {
    const types = textTypes(member).join(' or ')
    const row = MEMBERS.find(([names, type]) => names.test(name) && type.test(types))
    return row === undefined ? [] : [[name, row[2]] as const]
  })
  const form: ErrorForm = members.length > 0 ? Object.fromEntries(members) : USUAL.form
  const schema = schemas.add(media.schema ?? true)
  const check = schemas.check('body', { $ref: schema })
  const isKnown =
    bodyFault(check, statuses, (status, message) => writeForm(form, status, message)) === undefined
  if (isKnown && members.length > 0 && isDeepStrictEqual({ type, form }, USUAL)) return USUAL
  const misfit = product?.errorBody && bodyFault(check, statuses, product.errorBody)
  if (isKnown && (!product?.errorBody || misfit !== undefined)) {
    if (misfit !== undefined)
      note(media, `${misfit}: the service writes ${Object.keys(form).join(' and ')}`, 'schema')
    return { type, form }
  }
  if (product === undefined)
    note(media, `${BY_ITSELF}: the product writes it with ${PRODUCT_WRITES}`, 'schema')
  else if (!product.errorBody)
    refuse(media, `${BY_ITSELF}: write ${PRODUCT_WRITES} in the product`, 'schema')
  else if (misfit !== undefined) refuse(media, misfit, 'schema')
  return { type, form: 'product', schema }
}
