import fc from 'fast-check'
import { checkJson, json } from './json.ts'
import { asked, checkParameters } from './parameters.ts'
import { checkRequests, requestsTo } from './requests.ts'
import { targetOf } from './target.ts'
import { issueTokenIn } from '../support/tokens.ts'

/** How many paths and queries go over one connection, and on how many at a time: more would be shed. */
const AT_ONCE = 50
const CONNECTIONS = 4

const many = fc.array(asked, { minLength: AT_ONCE, maxLength: AT_ONCE })

/** Fails on the first input that something is wrong with, and names it. @returns how many there were */
type Fuzz = (inputs: number, seed: number) => Promise<number>

/** Issues the tokens that `fuzzOf` needs. */
export async function issueTokens(file: string) {
  return { reader: await issueTokenIn({ file }, 'reader'), writer: await issueTokenIn({ file }, 'writer') }
}

/** What there is to fuzz, by name; the same seed makes the same inputs. @param port of a service that knows the tokens */
export function fuzzOf(port: number, { reader, writer }: { readonly reader: string; readonly writer: string }) {
  const [empty, any] = [targetOf(port, reader), targetOf(port, writer)]
  return {
    json: async (inputs, seed) => {
      fc.assert(fc.property(json, checkJson), { numRuns: inputs, seed })
      return inputs
    },
    parameters: async (inputs, seed) => {
      const property = fc.asyncProperty(many, (all) => checkParameters(empty, all))
      return AT_ONCE * (await concurrently(CONNECTIONS, property, inputs / AT_ONCE, seed))
    },
    requests: (inputs, seed) => {
      const property = fc.asyncProperty(requestsTo(any), (bytes) => checkRequests(any, bytes))
      return concurrently(8 * CONNECTIONS, property, inputs, seed)
    },
  } satisfies Record<string, Fuzz>
}

async function concurrently<Value>(times: number, property: fc.IAsyncProperty<Value>, inputs: number, seed: number) {
  const numRuns = Math.ceil(inputs / times)
  // To make the input smaller would take long where a connection hangs.
  const options = { numRuns, endOnFailure: true }
  await Promise.all(
    Array.from({ length: times }, (_, index) => fc.assert(property, { ...options, seed: seed + index })),
  )
  return numRuns * times
}
