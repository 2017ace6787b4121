// json-schema beside Ajv: `node test/bench/schemas.ts`. Both run in turn in one process, because a busy machine then slows both.
import { Validator, type Schema } from '@plant-store/json-schema'
import { Ajv2020 } from 'ajv/dist/2020.js'

const ROUNDS = 41
const ROUND_MS = 40

const plant = {
  type: 'object',
  required: ['id', 'name'],
  properties: {
    id: { type: 'integer', minimum: 0 },
    name: { type: 'string', minLength: 1, maxLength: 100, pattern: '^[^\\x00]*$' },
    tags: { type: 'array', maxItems: 10, items: { type: 'string', maxLength: 50 } },
  },
  additionalProperties: false,
} satisfies Schema
const tree = {
  type: 'object',
  required: ['name'],
  properties: { name: { type: 'string' }, children: { type: 'array', items: { $ref: 'tree' } } },
  additionalProperties: false,
} satisfies Schema

const ajv = new Ajv2020({ schemas: { tree: { $id: 'tree', ...tree } } })

interface Node {
  readonly name: string
  readonly children: readonly Node[]
}
const nodeOf = (depth: number): Node => ({
  name: `level ${depth}`,
  children: depth === 0 ? [] : [nodeOf(depth - 1), nodeOf(depth - 1)],
})

const CASES: Readonly<Record<string, readonly [schema: Schema, value: unknown]>> = {
  'a plain object': [plant, { id: 7, name: 'Monstera deliciosa', tags: ['indoor', 'green'] }],
  'a recursive one, of 63 objects': [tree, nodeOf(5)],
}

/** Compiles a copy, because Ajv keeps compiled schemas. */
const ajvOf = (schema: Schema) => ajv.compile(structuredClone(schema))
const ourOf = (schema: Schema) => new Validator({ tree }, 'storing').compile('value', schema)

/** Calls a second. */
function rateOf(call: () => unknown): number {
  const begin = performance.now()
  let calls = 0
  while (performance.now() < begin + ROUND_MS) {
    call()
    calls += 1
  }
  return (calls * 1000) / (performance.now() - begin)
}

/** Runs two in turn. @returns calls a second of both, and the first in the second: each the median of all rounds */
function compare(first: () => unknown, second: () => unknown): string {
  const rounds = Array.from({ length: ROUNDS }, () => [rateOf(first), rateOf(second)] as const)
  const middle = (values: number[]) => values.sort((a, b) => a - b)[ROUNDS >> 1] ?? 0
  const ours = middle(rounds.map(([ours]) => ours))
  const theirs = middle(rounds.map(([, theirs]) => theirs))
  const ratio = middle(rounds.map(([ours, theirs]) => ours / theirs))
  return `${Math.round(ours)} a second, Ajv ${Math.round(theirs)}: ${ratio.toPrecision(2)}`
}

for (const [name, [schema, value]] of Object.entries(CASES)) {
  const ours = ourOf(schema)
  const theirs = ajvOf(schema)
  if (ours(value).error !== undefined || !theirs(value)) throw new Error(`${name} is not valid`)
  console.log(
    `${name}: validations: ${compare(
      () => ours(value),
      () => theirs(value),
    )}`,
  )
  const compiled = compare(
    () => ourOf(schema)(value),
    () => ajvOf(schema)(value),
  )
  console.log(`${name}: compile the schema, and validate once: ${compiled}`)
}
