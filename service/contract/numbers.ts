import type { DataValidateFunction } from 'ajv/dist/types/index.js'
import type { NumberRule } from './contract.ts'

/**
 * The keyword for all that a schema says of numbers. Ajv's own know no `bigint`, and take 19.99 for no multiple of 0.01.
 * @param isReader whether an int64 becomes a `bigint`
 */
export function numberKeyword(isReader: boolean): (rule: NumberRule) => DataValidateFunction {
  return (rule) => {
    const { kind, others, multipleOf } = rule
    const isWithin = boundsOf(rule)
    const validate: DataValidateFunction = (data: unknown, context) => {
      if (typeof data !== 'number' && typeof data !== 'bigint') {
        if (others === null || others.includes(data === null ? 'null' : Array.isArray(data) ? 'array' : typeof data))
          return true
      } else if (
        isWithin(data) &&
        (kind !== 'number' || Number.isFinite(data) || Number.isSafeInteger(Number(data))) &&
        (multipleOf === undefined || isMultiple(String(data), multipleOf))
      ) {
        if (isReader && kind === 'int64' && context)
          Reflect.set(context.parentData, context.parentDataProperty, BigInt(data))
        return true
      }
      validate.errors = [{ keyword: 'number', message: wordsOf(rule) }]
      return false
    }
    return validate
  }
}

/** Whether a number is within the bounds, exactly: JavaScript compares a `bigint` with a `number` so. */
function boundsOf({ kind, minimum, maximum, exclusiveMinimum, exclusiveMaximum }: NumberRule) {
  const isInteger = kind === 'int64' || kind === 'integer'
  const bound = (text: string | undefined) => (text === undefined ? undefined : isInteger ? BigInt(text) : Number(text))
  const [low, high, above, below] = [minimum, maximum, exclusiveMinimum, exclusiveMaximum].map(bound)
  return (value: number | bigint) =>
    (!isInteger || typeof value === 'bigint' || Number.isInteger(value)) &&
    (low === undefined || value >= low) &&
    (high === undefined || value <= high) &&
    (above === undefined || value > above) &&
    (below === undefined || value < below)
}

/** Whether a number in decimal digits is a multiple of another one, exactly. */
function isMultiple(value: string, of: string): boolean {
  const [a, b] = [decimal(value), decimal(of)]
  const scale = Math.max(a.scale, b.scale)
  return (a.digits * 10n ** BigInt(scale - a.scale)) % (b.digits * 10n ** BigInt(scale - b.scale)) === 0n
}

function decimal(text: string): { digits: bigint; scale: number } {
  const [mantissa = '', exponent = '0'] = text.split('e')
  const [whole = '', fraction = ''] = mantissa.split('.')
  return { digits: BigInt(whole + fraction), scale: fraction.length - Number(exponent) }
}

function wordsOf({ kind, others, ...bounds }: NumberRule): string {
  const nouns = [kind === 'int64' || kind === 'integer' ? 'an integer' : 'a number', ...(others ?? [])].join(' or ')
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = bounds
  const range = minimum !== undefined && maximum !== undefined ? ` from ${minimum} to ${maximum}` : undefined
  const words = {
    '>=': range ? undefined : minimum,
    '<=': range ? undefined : maximum,
    '>': exclusiveMinimum,
    '<': exclusiveMaximum,
  }
  const limits = Object.entries({ ...words, 'a multiple of': multipleOf }).flatMap(([word, bound]) =>
    bound === undefined ? [] : [`, ${word} ${bound}`],
  )
  return `must be ${nouns}${range ?? ''}${limits.join('')}`
}
