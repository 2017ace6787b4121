import { fullFormats } from 'ajv-formats/dist/formats.js'
import type { Formats } from '../core/schema.ts'
import type { Keyword } from './keyword.ts'

/** 2020-12 validation, section 7. A format that is not known is an annotation. */
export const format: Keyword = ({ format: name }, { formats }) => {
  const isInFormat = name === undefined ? undefined : formatCheck(name, formats)
  if (name === undefined || isInFormat === undefined) return undefined
  return (value, evaluation) =>
    typeof value !== 'string' ||
    isInFormat(value) ||
    evaluation.fail({ keyword: 'format', limit: name })
}

type Check = (text: string) => boolean

/** Formats of texts in OpenAPI's registry that ajv-formats lacks. */
export const REGISTERED: Formats = {
  char: (text) => /^.$/su.test(text),
  decimal: (text) => /^-?\d+(\.\d+)?$/.test(text),
}

/** The check of a format: an added one, or one of ajv-formats. @returns undefined for a format that is not one of texts */
function formatCheck(name: string, formats: Formats): Check | undefined {
  if (Object.hasOwn(formats, name)) return formats[name]
  if (Object.hasOwn(REGISTERED, name)) return REGISTERED[name]
  const definition: unknown = Object.hasOwn(fullFormats, name)
    ? Reflect.get(fullFormats, name)
    : undefined
  if (definition instanceof RegExp) return expressionCheck(definition)
  const isInFormat = validatorOf(definition)
  if (name !== 'time' && name !== 'date-time') return isInFormat
  return (text) => ZONE.test(text) && isInFormat?.(text) === true
}

/** `\S+` takes colons, too. Without the rest, the time of `url` does not grow as the square of the length. */
function expressionCheck({ source, flags }: RegExp): Check {
  const expression = new RegExp(source.replace('\\S+(?::\\S*)?@', '\\S+@'), flags)
  return (text) => expression.test(text)
}

/** The function of a format in ajv-formats. One with a `type` is for numbers. */
function validatorOf(definition: unknown): Check | undefined {
  if (!(definition instanceof Object)) return undefined
  if ('type' in definition) return undefined
  const validate: unknown = 'validate' in definition ? definition.validate : definition
  if (!(validate instanceof Function)) return undefined
  return (text) => Reflect.apply(validate, undefined, [text]) === true
}

/** Times have no space, and an offset has its minutes (RFC 3339, section 5.6). The formats of ajv-formats allow more. */
const ZONE = /^[\dt:.-]+(z|[+-]\d\d:\d\d)$/i
