// Compiles the service's own errors for contract/error-forms.ts: who writes the body of each.
import { isDeepStrictEqual } from 'node:util'
import type { ErrorFormat, Operation } from '../engine/contract/compiled.ts'
import { bodyKind } from '../engine/contract/bodies.ts'
import { bodyFault, KNOWN_FORMS, statusesOf } from '../engine/contract/error-forms.ts'
import type * as openapi from './document.ts'
import { derefEntries } from './references.ts'
import { mediaFault } from './messages.ts'
import type { Context } from './schemas.ts'

/** The usual format of an error. */
const USUAL = { type: 'application/json', form: 'error' } as const
/** The media type of RFC 9457: it says the form, whatever else the schema accepts. */
const PROBLEM = 'application/problem+json'
const PRODUCT_WRITES = 'errorBody: (status, message) => ...'
/** A message such as the service writes: a schema that refuses it has a form of its own. */
const LIKELY_MESSAGE = 'body/items/0 must match pattern "^[A-Z]+$": Not a code.'
const BY_ITSELF = 'the service answers this error by itself, in a form that it does not know'

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

  const schema = schemas.add(media.schema ?? true)
  const check = schemas.check('body', { $ref: schema })
  const form = knownForms(type).find(
    (name) => bodyFault(check, statuses, KNOWN_FORMS[name], LIKELY_MESSAGE) === undefined,
  )
  if (form !== undefined) {
    const members = Object.keys(KNOWN_FORMS[form](400, '')).join(', ')
    const text = `the service writes this error as { ${members} }: errorBody is for other forms`
    if (product?.errorBody) note(media, text)
    return { type, form }
  }
  if (product === undefined)
    note(media, `${BY_ITSELF}: the product writes it with ${PRODUCT_WRITES}`, 'schema')
  else if (!product.errorBody)
    refuse(media, `${BY_ITSELF}: write ${PRODUCT_WRITES} in the product`, 'schema')
  const misfit = product?.errorBody && bodyFault(check, statuses, product.errorBody)
  if (misfit !== undefined) refuse(media, misfit, 'schema')
  return { type, form: 'product', schema }
}

/** The names of the known forms that a media type allows. */
function knownForms(type: string): (keyof typeof KNOWN_FORMS)[] {
  if (type.toLowerCase() === PROBLEM) return ['problem']
  return ['error', 'problem', 'code', 'message']
}
