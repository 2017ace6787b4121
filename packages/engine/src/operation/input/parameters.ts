// Reads the parameters of an operation in one place: path, query, headers or cookies.
import type { FastifyRequest } from 'fastify'
import type { Parameter } from '../../contract/compiled.ts'
import type { Validator } from '@plant-store/json-schema'
import { isByProperty, parameterReader } from './styles/index.ts'
import { keyOf, type Place, receivedIn } from './styles/place.ts'
import { Sent } from './strings/sent.ts'
import { HttpError } from '../../errors.ts'

/** `readOnly` on a parameter itself means nothing. It counts in an object parameter: level 2. */
const MARKED_FROM = 2

/**
 * Makes the reader of the parameters in a place, by name. Unknown ones are left out.
 * @param valuesOf reads the parameters of a path from the URL, where the router can't
 * @returns undefined if the operation has no parameter there
 * @throws {HttpError} if one is missing, invalid or repeated
 */
export function parametersReader(
  parameters: readonly Parameter[],
  place: Place,
  validator: Validator,
  valuesOf?: (url: string) => object,
): ((request: FastifyRequest) => object) | undefined {
  const ofPlace = parameters.filter((parameter) => parameter.in === place)
  if (ofPlace.length === 0) return undefined
  const validate = validator.compile(place, schemaOf(ofPlace), MARKED_FROM)
  const readers = ofPlace.map((parameter) => ({
    name: parameter.name,
    key: keyOf(parameter),
    read: parameterReader(parameter),
    isEmptyAbsent: isEmptyAbsent(parameter, validator),
  }))
  return (request) => {
    const received = valuesOf?.(request.url) ?? receivedIn(place, request, ofPlace)
    const sent: Record<string, unknown> = {}
    for (const { name, key, read, isEmptyAbsent } of readers) {
      if (isEmptyAbsent && Reflect.get(received, key) === '') continue
      const value = read(received, request)
      if (value !== undefined) sent[name] = value
    }
    const { error, value } = validate(sent)
    if (error !== undefined) throw new HttpError(400, error)
    return value as object
  }
}

/** The parameters of a place as the properties of one object. */
function schemaOf(parameters: readonly Parameter[]) {
  const properties = parameters.map(({ name, schema }) => [name, { $ref: schema }] as const)
  const required = parameters.filter((parameter) => parameter.required)
  return {
    type: 'object',
    properties: Object.fromEntries(properties),
    required: required.map(({ name }) => name),
  }
}

/** Whether an empty string means the absence of a parameter: it is allowed, and its schema refuses the string. */
function isEmptyAbsent(parameter: Parameter, validator: Validator): boolean {
  if (parameter.allowEmptyValue !== true || isByProperty(parameter)) return false
  const check = validator.compile(parameter.in, schemaOf([parameter]), MARKED_FROM)
  const empty = parameter.sentAs === 'pairs' ? {} : new Sent([''])
  return check({ [parameter.name]: empty }).error !== undefined
}
