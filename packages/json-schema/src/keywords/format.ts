// The keyword `format`: formats of the caller, of the registry of OpenAPI, and of ajv-formats.
import { fullFormats } from 'ajv-formats/dist/formats.js'
import type { Formats } from '../core/schema.ts'
import type { Keyword } from './keyword.ts'

/** 2020-12 validation, section 7. An unknown format is an annotation. */
export const format: Keyword = ({ format: name }, { formats }) => {
  const isInFormat = name === undefined ? undefined : formatCheck(name, formats)
  if (name === undefined || isInFormat === undefined) return undefined
  return (value, evaluation) =>
    typeof value !== 'string' ||
    isInFormat(value) ||
    evaluation.fail({ keyword: 'format', limit: name })
}

/** Whether a string has a format. */
type IsInFormat = (string: string) => boolean

/** Formats of strings in OpenAPI's registry which ajv-formats lacks. */
export const REGISTERED: Formats = {
  char: (string) => /^.$/su.test(string),
  decimal: (string) => /^-?\d+(\.\d+)?$/.test(string),
}

/** The check of a format: an added one, or one of ajv-formats. @returns undefined for a format of other values than strings */
function formatCheck(name: string, formats: Formats): IsInFormat | undefined {
  if (Object.hasOwn(formats, name)) return formats[name]
  if (Object.hasOwn(REGISTERED, name)) return REGISTERED[name]
  const definition: unknown = Object.hasOwn(fullFormats, name)
    ? Reflect.get(fullFormats, name)
    : undefined
  if (definition instanceof RegExp) return expressionCheck(definition)
  const isInFormat = validatorOf(definition)
  if (name !== 'time' && name !== 'date-time') return isInFormat
  return (string) => ZONE.test(string) && isInFormat?.(string) === true
}

/** `\S+` takes colons, too. With the rest, the time of `url` would grow as the square of the length. */
function expressionCheck({ source, flags }: RegExp): IsInFormat {
  const expression = new RegExp(source.replace('\\S+(?::\\S*)?@', '\\S+@'), flags)
  return (string) => expression.test(string)
}

/** The function of a format in ajv-formats. One with a `type` is for numbers. */
function validatorOf(definition: unknown): IsInFormat | undefined {
  if (!(definition instanceof Object)) return undefined
  if ('type' in definition) return undefined
  const validate: unknown = 'validate' in definition ? definition.validate : definition
  if (!(validate instanceof Function)) return undefined
  return (string) => Reflect.apply(validate, undefined, [string]) === true
}

/** Times have no space, and an offset has its minutes (RFC 3339, section 5.6). ajv-formats allows more. */
const ZONE = /^[\dt:.-]+(z|[+-]\d\d:\d\d)$/i
