// The errors outside of operations, such as those of unknown paths, have the format that the errors of the contract have in common.
import type { Compiled, ErrorFormat, Operation } from './compiled.ts'
import { BUILT_IN_STATUSES, findStatus, formatOf, USUAL } from './error-forms.ts'
import { fitsOutside } from './error-trials.ts'
import type { ProductHooks } from './product-hooks.ts'

/**
 * Finds the format of the errors outside of operations: the one of most built-in errors, counted for each operation and each
 * status; of equals, the first one in the contract. Operations that describe no error don't count. Neither does a format of the
 * product that what it writes for no operation doesn't fit, unless there is no other.
 * @returns the format, as `default`; nothing if it is the usual one
 */
export function commonErrors(contract: Compiled, product: ProductHooks): Operation['errors'] {
  const describing = contract.operations.filter(describesErrors)
  const formats = describing.flatMap(({ errors }) =>
    BUILT_IN_STATUSES.map((status) => formatOf(errors, status) ?? USUAL),
  )
  const fitting = fittingFormats(contract, product, formats)
  const byKind = Map.groupBy(fitting, ({ type, form }) => `${form} ${type}`)
  const [largest] = [...byKind.values()].sort((before, after) => after.length - before.length)
  const common = largest?.[0] ?? firstOfProduct(contract, product)
  return common === undefined ? {} : { default: common }
}

/** Whether the contract says how an error looks that the service answers by itself. */
export function describesErrors({ method, responses }: Operation): boolean {
  if (method === 'HEAD') return false // its answers have no bodies
  const keys = BUILT_IN_STATUSES.map((status) => findStatus(responses, status))
  return keys.some((key) => key !== undefined && Object.keys(responses[key] ?? {}).length > 0)
}

/** The formats without those of the product that what it writes for no operation doesn't fit. */
function fittingFormats(
  contract: Compiled,
  product: ProductHooks,
  formats: readonly ErrorFormat[],
): readonly ErrorFormat[] {
  const schemas = formats.flatMap((format) => (format.form === 'product' ? format.schema : []))
  const distinct = [...new Set(schemas)]
  const fitting = new Set(distinct.filter((schema) => fitsOutside(contract, product, schema)))
  return formats.filter((format) => format.form !== 'product' || fitting.has(format.schema))
}

/** The first error that the product writes; undefined if it writes none. */
function firstOfProduct(
  { operations }: Compiled,
  { errorBody }: ProductHooks,
): ErrorFormat | undefined {
  if (errorBody === undefined) return undefined
  const formats = operations.flatMap(({ errors }) => Object.values(errors))
  return formats.find(({ form }) => form === 'product')
}
