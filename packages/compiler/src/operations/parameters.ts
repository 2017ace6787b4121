// Compiles the parameters of an operation, and reports values no request can send as described.
import type { Parameter, Requirement } from '@plant-store/engine/for-compiler'
import { bodyKind } from './body-kinds.ts'
import type * as openapi from '../read/document.ts'
import { derefEntries } from '../read/references.ts'
import type { Compilation } from '../schemas/schemas.ts'
import {
  allowedTypes,
  fieldsOf,
  isReadable,
  propertySchemasOf,
  otherSchemasOf,
} from '../schemas/shapes.ts'

export function readParameters(
  compilation: Compilation,
  described: readonly openapi.Parameter[],
  security: readonly (readonly Requirement[])[],
): Parameter[] {
  const parameters = described.map((parameter) => readParameter(compilation, parameter))
  const [open, ...others] = described.filter(isOpen)
  if (open === undefined) return parameters
  const isDeep = described.some(({ style }) => style === 'deepObject')
  if (others.length > 0 || isDeep)
    compilation.diagnostics.error(open, { code: 'parameter-open', name: open.name }, 'schema')
  const inQuery = parameters.filter(({ in: place }) => place === 'query')
  const names = inQuery.flatMap(({ name, members }) => members ?? name)
  const schemes = security.flat().map(({ scheme }) => scheme)
  const keys = schemes.filter(({ in: place }) => place === 'query').map(({ key }) => key)
  const reserved = [...new Set([...names, ...keys])]
  return parameters.map((parameter, index) =>
    described[index] === open ? { ...parameter, reserved } : parameter,
  )
}

const STRING_SCHEMA = { type: 'string' }

function readParameter(compilation: Compilation, parameter: openapi.Parameter): Parameter {
  const { in: place, name, allowEmptyValue = false } = parameter
  const sentAs = sentAsOf(parameter)
  const described = sentAs === 'json' ? readContent(compilation, parameter) : parameter
  const { schema = sentAs === 'json' ? true : STRING_SCHEMA } = described
  checkValue(compilation, parameter, sentAs)
  const id = compilation.schemas.add(schema)
  compilation.schemas.addExamples(described, id)
  return {
    in: place as Parameter['in'],
    name,
    required: isRequired(parameter),
    schema: id,
    ...(place === 'query' && allowEmptyValue && { allowEmptyValue }),
    ...(sentAs && { sentAs }),
    ...(sentAs === 'members' && { members: namesOf(schema) }),
  }
}

function isRequired({ in: place, required = false }: openapi.Parameter): boolean {
  return place === 'path' || required
}

type SentAs = Parameter['sentAs']

/** The serialization of a parameter; undefined for a string, and for a repeated name. Lists in headers are always `a,b`. */
function sentAsOf(parameter: openapi.Parameter): SentAs {
  const { in: place, content, style, schema = true } = parameter
  if (content !== undefined) return 'json'
  if (style === 'deepObject') return style
  if (isObject(schema)) return objectSentAs(parameter)
  const isList = allowedTypes(schema).includes('array')
  return isList && (place !== 'query' || !isExploded(parameter)) ? 'list' : undefined
}

function objectSentAs(parameter: openapi.Parameter): SentAs {
  if (!isExploded(parameter)) return 'pairs'
  return parameter.in === 'query' ? 'members' : 'assignments'
}

/** Whether a list or an object is sent as several parameters. This is the default of the style `form` only. */
function isExploded({ in: place, explode }: openapi.Parameter): boolean {
  return explode ?? (place === 'query' || place === 'cookie')
}

/** Whether a value is an object. Null does not count, because no string is null. */
function isObject(schema: unknown): boolean {
  const types = allowedTypes(schema).filter((type) => type !== 'null')
  return types.join() === 'object'
}

/** Whether an object in the query takes undescribed names, too: its properties are sent by their names. */
function isOpen(parameter: openapi.Parameter): boolean {
  if (sentAsOf(parameter) !== 'members') return false
  const { schema } = parameter
  return namesOf(schema).length === 0 || otherSchemasOf(schema).length > 0
}

function namesOf(schema: unknown): string[] {
  return [...fieldsOf(schema).keys()].filter((name) => name !== '')
}

function readContent(
  { diagnostics }: Compilation,
  parameter: openapi.Parameter,
): openapi.MediaType {
  const [first, ...others] = derefEntries(parameter.content)
  const [type, media] = first ?? ['', {}]
  const { name } = parameter
  if (bodyKind(type) !== 'json' || others.length > 0)
    diagnostics.error(parameter, { code: 'parameter-content', name }, 'content')
  return media
}

function checkValue(compilation: Compilation, parameter: openapi.Parameter, sentAs: SentAs): void {
  const { in: place, name } = parameter
  if (sentAs === 'json') return
  const isString = sentAs === undefined || sentAs === 'list'
  const fault = isString ? stringFault(parameter) : objectFault(parameter, sentAs)
  const isSplit = place === 'cookie' && sentAs !== undefined && isExploded(parameter)
  const code = fault ?? (isSplit ? 'parameter-split' : undefined)
  if (code !== undefined) compilation.diagnostics.error(parameter, { code, name }, 'schema')
}

/** The code of the error of a value sent as a string, or as a list of strings. */
function stringFault({ schema }: openapi.Parameter) {
  return isReadable(schema ?? true, 'parameter') ? undefined : 'parameter-not-simple'
}

/** The code of the error of an object with properties sent as strings. Between commas, a property can't be a list. */
function objectFault({ schema }: openapi.Parameter, sentAs: SentAs) {
  const hasCommas = sentAs === 'pairs' || sentAs === 'assignments'
  const isFlat = propertySchemasOf(schema).every((property) => {
    const isList = allowedTypes(property).includes('array')
    return isReadable(property, 'parameter') && !(hasCommas && isList)
  })
  if (!isObject(schema)) return 'parameter-not-object'
  if (isFlat) return undefined
  return hasCommas ? 'parameter-nested' : 'parameter-not-object'
}
