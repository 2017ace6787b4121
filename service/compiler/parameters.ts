// Compiles the parameters of an operation, and reports those that can't be sent as described.
import type { Parameter } from '../engine/contract/compiled.ts'
import { bodyKind } from './body-kinds.ts'
import type * as openapi from './document.ts'
import { derefEntries } from './references.ts'
import type { Context } from './schemas.ts'
import { allowedTypes, fieldsOf, isReadable, UNREADABLE } from './shapes.ts'

/** Compiles a parameter. */
export function readParameter(context: Context, parameter: openapi.Parameter): Parameter {
  const { in: place, name, required = false } = parameter
  const sentAs = sentAsOf(parameter)
  const isObject = sentAs === 'deepObject' || sentAs === 'members'
  const described = sentAs === 'json' ? readContent(context, parameter) : parameter
  const { schema = true } = described
  if (isObject) checkMembers(context, parameter)
  else if (sentAs !== 'json') checkTexts(context, parameter)
  const id = context.schemas.add(schema)
  context.schemas.addExamples(described, id)
  return {
    in: place as Parameter['in'],
    name,
    required,
    schema: id,
    ...querySyntax(parameter),
    ...(sentAs && { sentAs }),
    ...(sentAs === 'members' && { members: namesOf(schema) }),
  }
}

/** A list in a header is always `a,b`. */
function querySyntax(parameter: openapi.Parameter): Pick<Parameter, 'explode' | 'allowEmptyValue'> {
  const { in: place, explode = true, allowEmptyValue = false } = parameter
  if (place !== 'query') return { explode: false }
  return { explode, ...(allowEmptyValue && { allowEmptyValue: true as const }) }
}

function sentAsOf(parameter: openapi.Parameter): Parameter['sentAs'] {
  const { in: place, content, style, schema = true } = parameter
  if (content !== undefined) return 'json'
  if (style === 'deepObject') return style
  if (place === 'path') return allowedTypes(schema).includes('array') ? 'simple' : undefined
  return place === 'query' && hasMembers(parameter) ? 'members' : undefined
}

/** Whether a parameter is an object whose members are sent, each by its name. */
function hasMembers({ explode = true, schema }: openapi.Parameter): boolean {
  const isObject = allowedTypes(schema).join() === 'object'
  return explode && isObject && namesOf(schema).length > 0
}

/** The names of the members that a schema describes. */
function namesOf(schema: unknown): string[] {
  return [...fieldsOf(schema).keys()].filter((name) => name !== '')
}

/** The media type of a parameter that has `content` in the place of `schema`. */
function readContent({ diagnostics }: Context, parameter: openapi.Parameter): openapi.MediaType {
  const [first, ...others] = derefEntries(parameter.content)
  const [type, media] = first ?? ['', {}]
  if (bodyKind(type) !== 'json' || others.length > 0)
    diagnostics.error(parameter, `the parameter ${parameter.name} ${NO_JSON}`, 'content')
  return media
}

const NO_JSON = 'has a content that is not served: write only application/json, or "schema"'

/** Reports an object whose members can't be sent as `a[b]=1`. */
function checkMembers({ diagnostics }: Context, parameter: openapi.Parameter): void {
  const { name, schema } = parameter
  const members = [...fieldsOf(schema).values()].flat()
  const isFlat = members.every((member) => isReadable(member, 'parameter'))
  if (allowedTypes(schema).join() === 'object' && isFlat) return
  diagnostics.error(parameter, `the parameter ${name} ${NO_MEMBERS}`, 'schema')
}

const NO_MEMBERS = 'needs "type: object", with members that a text can have, or "content"'

/** Reports a value that can't be sent as texts. */
function checkTexts({ diagnostics }: Context, parameter: openapi.Parameter): void {
  const { in: place, name, schema = true } = parameter
  if (!isReadable(schema, 'parameter'))
    diagnostics.error(parameter, `the parameter ${name} ${UNREADABLE}`, 'schema')
  else if (place === 'cookie' && allowedTypes(schema).includes('array'))
    diagnostics.error(
      parameter,
      `the list ${name} in a ${place} is not served: write "in: query", or "type: string"`,
      'schema',
    )
}
