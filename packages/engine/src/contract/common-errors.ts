// Finds the form of the errors outside of operations: the commonest one in the contract.
import type { Compiled, ErrorFormat, Operation } from './compiled.ts'
import { BUILT_IN_STATUSES, findStatus, formatOf, USUAL } from './error-forms.ts'
import { fitsOutside } from './error-trials.ts'
import type { ProductHooks } from './product-hooks.ts'
import { exactJson } from '../http/json.ts'

/** The format of a built-in error in an operation. */
interface Counted {
  readonly status: number
  readonly format: ErrorFormat
}

/**
 * Finds the formats of the errors outside of operations: those of most built-in errors, counted for
 * each operation and each status; of equals, the first one in the contract. Operations without
 * described errors don't count. Neither does a format unfit outside of operations, unless there is
 * no other.
 * @returns them by status, with the first one as `default`; nothing if there are none
 */
export function commonErrors(contract: Compiled, product: ProductHooks): Operation['errors'] {
  const describing = contract.operations.filter(describesErrors)
  const counted = describing.flatMap(({ errors }) =>
    BUILT_IN_STATUSES.map((status) => ({ status, format: formatOf(errors, status) ?? USUAL })),
  )
  const byForm = Map.groupBy(fittingFormats(contract, product, counted), ({ format }) =>
    formOf(format, product),
  )
  const [largest] = [...byForm.values()].sort((before, after) => after.length - before.length)
  if (largest !== undefined) return byStatus(largest)
  const ofProduct = firstOfProduct(contract, product)
  return ofProduct === undefined ? {} : { default: ofProduct }
}

/** Whether the contract describes a built-in error of an operation. */
export function describesErrors({ method, responses }: Operation): boolean {
  if (method === 'HEAD') return false // its answers have no bodies
  const keys = BUILT_IN_STATUSES.map((status) => findStatus(responses, status))
  return keys.some((key) => key !== undefined && Object.keys(responses[key] ?? {}).length > 0)
}

/** The formats fit for errors outside of operations. */
function fittingFormats(
  contract: Compiled,
  product: ProductHooks,
  counted: readonly Counted[],
): readonly Counted[] {
  const distinct = Map.groupBy(counted, ({ format }) => exactJson(format))
  return [...distinct.values()].flatMap((same) => {
    const [first] = same
    return first && fitsOutside(contract, product, first.format) ? same : []
  })
}

/** A name shared by the formats of one form. Templates of one schema differ only by status. */
function formOf(format: ErrorFormat, { errorBody }: ProductHooks): string {
  const isOfProduct = 'schema' in format && errorBody !== undefined
  if (isOfProduct) return `product ${format.type}`
  const schema = format.form === 'template' ? format.schema : ''
  return `${format.form} ${schema} ${format.type}`
}

/** The first format of each status: templates of one schema may differ by status. */
function byStatus(counted: readonly Counted[]): Operation['errors'] {
  const formats = counted.map(({ status, format }) => [status, format] as const)
  return { ...Object.fromEntries(formats.toReversed()), default: counted[0]?.format ?? USUAL }
}

/** The first error written by the product; undefined if it writes none. */
function firstOfProduct(
  { operations }: Compiled,
  { errorBody }: ProductHooks,
): ErrorFormat | undefined {
  if (errorBody === undefined) return undefined
  const formats = operations.flatMap(({ errors }) => Object.values(errors))
  return formats.find((format) => 'schema' in format)
}
