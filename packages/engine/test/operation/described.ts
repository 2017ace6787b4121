// Serves one schema as the body of a request and as the body of an answer.
import type { Test } from 'tap'
import type { ProductHooks } from '@plant-store/engine/for-compiler'
import { boot } from '../../../../test/support/contracts/serve-contract.ts'
import { post } from '../../../../test/support/contracts/exchanges.ts'

/**
 * A contract with the schema `A`. @param schemas the fields of `components/schemas` in YAML, a line
 * each
 */
export function describe(schemas: string): string {
  const content = `content: { application/json: { schema: { $ref: '#/components/schemas/A' } } }`
  return `x-body-limit: 1000000
paths:
  /in: { post: { operationId: in, requestBody: { required: true, ${content} }, responses: { '204': { description: Done } } } }
  /out: { get: { operationId: out, responses: { '200': { description: Done, ${content} } } } }
components:
  schemas:
${schemas.replaceAll(/^/gm, '    ')}
`
}

/** Serves the schema `A`. @param schemas see {@link describe} */
export async function serve(t: Test, schemas: string, product: ProductHooks = {}) {
  let got: unknown
  let body: unknown
  const app = await boot(t, {
    yaml: describe(schemas),
    product,
    run: async (request) => {
      if (request.body === undefined) return { status: 200, body }
      got = request.body
      return { status: 204 }
    },
  })
  return {
    contract: app.contract,
    /**
     * Sends a body. @param text its JSON, or a value to write as JSON @returns also the value for
     * the method
     */
    request: async (text: unknown) => {
      got = undefined
      const answer = await app.inject(post(text, undefined, '/in'))
      return { status: answer.statusCode, got, text: answer.body }
    },
    /** Lets the method answer with a body. */
    answer: async (value: unknown) => {
      body = value
      const answer = await app.inject('/out')
      return { status: answer.statusCode, text: answer.body }
    },
  }
}

/**
 * Checks which values a schema allows, in requests and in answers. @param schemas see {@link serve}
 */
export async function allows(
  t: Test,
  schemas: string,
  valid: readonly unknown[],
  invalid: readonly unknown[],
) {
  const { request, answer } = await serve(t, schemas)
  for (const value of [...valid, ...invalid]) {
    const statuses = [(await request(JSON.stringify(value))).status, (await answer(value)).status]
    t.strictSame(statuses, valid.includes(value) ? [204, 200] : [400, 500], JSON.stringify(value))
  }
}

/** JSON with `n` behind each bigint. */
export function shown(value: unknown): string {
  const text = JSON.stringify(value, (_name, part: unknown) =>
    typeof part === 'bigint' ? `${part}n` : part,
  )
  return text.replaceAll(/"(-?\d+n)"/g, '$1')
}
