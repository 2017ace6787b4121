// Makes each method of a product check its result: the answer on the wire does not show a surplus member, or which
// method forgot one. A fault becomes a 500, and `call` shows its error from the log.
import { HttpError } from '../../service/engine/errors.ts'
import { JsonText } from '../../service/engine/http/json.ts'
import type { Product } from '../../service/engine/index.ts'
import { contractOf, type Operation } from './contract.ts'
import { brief } from './json.ts'
import { faultsOf, fields, type Schema } from './schemas.ts'

const watched = new WeakSet()

/** The same product, whose methods fail if the contract does not declare what they give. */
export function withCheckedResults(product: Product): Product {
  const services: Product['services'] = (collections) => {
    const all = product.services(collections)
    for (const prototype of all.map((each): object => Object.getPrototypeOf(each))) {
      if (watched.has(prototype)) continue
      watched.add(prototype)
      for (const operation of contractOf(product).operations) watch(prototype, operation)
    }
    return all
  }
  return { ...product, services }
}

function watch(prototype: object, { id, responses }: Operation): void {
  const method: unknown = Reflect.get(prototype, id)
  if (typeof method !== 'function') return // the start of the service reports it
  const value = async function (this: unknown, request: unknown): Promise<object> {
    try {
      const result = fields(await Reflect.apply(method, this, [request]))
      const status = String(result['status'])
      const response = [status, `${status[0]}XX`, 'default'].flatMap((each) => responses.get(each) ?? [])[0]
      if (response === undefined) throw new Error(`the method ${id} gave the status ${status}: ${DECLARE}`)
      if (!/json$/.test(response.type ?? 'json')) return result
      return { ...result, body: checked(`the method ${id} gave, with ${status},`, response.schema, result['body']) }
    } catch (error) {
      if (!(error instanceof HttpError) || responses.has(String(error.statusCode))) throw error
      throw new Error(`the method ${id} threw the status ${error.statusCode}: ${DECLARE}`, { cause: error })
    }
  }
  Object.defineProperty(prototype, id, { value })
}

const DECLARE = 'declare it for the operation in openapi.yaml, or give another'

function checked(what: string, schema: Schema | undefined, body: unknown): unknown {
  if (body instanceof JsonText) {
    checked(what, schema, JSON.parse(body.text))
    return body
  }
  if (isBatches(body)) return checkedBatches(body, (batch) => checked(what, schema, batch))
  if (schema === undefined && body !== undefined) throw new Error(`${what} a body, which openapi.yaml does not declare`)
  const [fault] = schema === undefined ? [] : faultsOf(schema, body)
  if (fault === undefined) return body
  const { instancePath, message = '', params } = fault
  throw new Error(`${what} a body that is not as openapi.yaml says: body${instancePath} ${message} ${brief(params)}`)
}

function isBatches(body: unknown): body is AsyncIterable<unknown> {
  return typeof body === 'object' && body !== null && Symbol.asyncIterator in body
}

function checkedBatches(batches: AsyncIterable<unknown>, check: (batch: unknown) => void): AsyncIterable<unknown> {
  const iterator = batches[Symbol.asyncIterator]()
  const next = async () => {
    const result = await iterator.next()
    if (result.done !== true) check(result.value)
    return result
  }
  const end = async () => (await iterator.return?.()) ?? { done: true as const, value: undefined }
  return { [Symbol.asyncIterator]: () => ({ next, return: end }) }
}
