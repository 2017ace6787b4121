// Valid values fit the types written by `npm run generate`, in requests and in answers, and invalid values do not.
import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import t, { type Test } from 'tap'
import { generateTypes } from '../../../test/support/inner/compiler.ts'
import {
  type Answer,
  boot,
  contract,
  echo,
  type Input,
  type Served,
} from '../../../test/support/contracts/serve-contract.ts'
import { exactJson } from '@plant-store/engine/for-store'
import { CONSTRUCTS, TABLE } from './constructs/all.ts'
import { describe, serve } from '../../engine/test/operation/described.ts'

/** A schema for the bodies of a request and of an answer, with valid and invalid values. */
interface Row {
  readonly schema: string
  readonly right: readonly unknown[]
  readonly wrong: readonly unknown[]
  /** Values valid only in a request, or only in an answer. */
  readonly request?: readonly unknown[]
  readonly answer?: readonly unknown[]
}

const DEFAULT = 'properties: { a: { type: string, default: x }, b: { type: integer } }'
const int64 = '{ type: integer, format: int64 }'
const ONE = 9007199254740993n

/** Keywords beside a marked property: each allows more properties. */
const BESIDE = {
  'additionalProperties: true': 'additionalProperties: true',
  'additionalProperties: {}': 'additionalProperties: {}',
  'a schema': 'additionalProperties: { type: [string, integer] }',
  patternProperties: "patternProperties: { '^x': { type: string } }",
  'an open part of allOf':
    'allOf: [{ additionalProperties: true }, { properties: { c: { type: string } } }]',
  unevaluatedProperties: 'unevaluatedProperties: { type: string }',
  'an alternative': 'anyOf: [{ required: [x] }, { properties: { z: { type: string } } }]',
}

const MARKED = Object.entries(BESIDE).flatMap(([name, beside]): [string, Row][] => [
  [
    `default beside ${name}`,
    {
      schema: `type: object, ${DEFAULT}, ${beside}`,
      right: [
        { x1: 'y', x: '1' },
        { a: 'b', b: 1 },
      ],
      wrong: [{ a: 1 }, { b: 'x' }],
    },
  ],
  [
    `readOnly beside ${name}`,
    {
      schema: `type: object, required: [a], properties: { a: { type: string, readOnly: true }, b: { type: integer } }, ${beside}`,
      right: [],
      request: [{ b: 1 }, { x: 'y' }],
      answer: [{ a: 'b', b: 1 }],
      wrong: [{ a: 'b', b: 'c' }],
    },
  ],
  [
    `writeOnly beside ${name}`,
    {
      schema: `type: object, required: [a], properties: { a: { type: string, writeOnly: true }, b: { type: integer } }, ${beside}`,
      right: [],
      request: [{ a: 'b', b: 1 }],
      answer: [{ b: 1 }, { x: 'y' }],
      wrong: [{ b: 'c', a: 'b' }],
    },
  ],
])

const ROWS: Readonly<Record<string, Row>> = {
  ...Object.fromEntries(MARKED),
  'an int64 beside texts': {
    schema: `type: object, properties: { id: ${int64} }, additionalProperties: { type: string }`,
    right: [{ id: ONE, a: 'b' }, {}],
    wrong: [{ id: 'x' }, { a: true }],
  },
  'an int64 beside integers': {
    schema: `type: object, required: [id], properties: { id: ${int64} }, additionalProperties: { type: integer }`,
    right: [{ id: ONE, a: 1 }],
    wrong: [{ a: 1 }, { id: ONE, a: 'b' }],
  },
  'an int64 that other parts describe, too': {
    schema: `allOf: [{ type: object, properties: { id: ${int64} } }, { properties: { id: { type: integer, minimum: 1 } } }, { properties: { id: { enum: [7, 9007199254740993] } } }], anyOf: [{ properties: { id: { type: integer } } }, { required: [no] }]`,
    right: [{ id: 7n }, {}],
    wrong: [{ id: 'x' }],
  },
  'an int64 of an alternative': {
    schema: `type: object, properties: { id: { type: integer } }, oneOf: [{ required: [a], properties: { id: ${int64} } }, { required: [b] }]`,
    right: [
      { a: 1, id: 7n },
      { b: 1, id: 7 },
    ],
    wrong: [{ a: 1, id: 'x' }],
  },
  'a list of int64 or null': {
    schema: `type: array, items: { type: [integer, 'null'], format: int64 }`,
    right: [[ONE, null], []],
    wrong: [['x'], [true]],
  },
  'a list of int64 or null, by anyOf': {
    schema: `type: array, items: { anyOf: [${int64}, { type: 'null' }] }`,
    right: [[ONE, null]],
    wrong: [['x']],
  },
  'a list of int64 or null, by a list of types': {
    schema: `type: [array, 'null'], items: { type: [integer, string, 'null'], format: int64 }`,
    right: [[1n, null, 'a'], null],
    wrong: [[true], 7],
  },
  'int64 or null with an enum': {
    schema: `type: object, properties: { a: { type: [integer, 'null'], format: int64, enum: [1, null] } }`,
    right: [{ a: 1n }, { a: null }],
    wrong: [{ a: 'x' }],
  },
  'a tuple, which may be shorter': {
    schema: `type: array, prefixItems: [{ type: string }, ${int64}], items: { type: boolean }`,
    right: [[], ['a'], ['a', 1n], ['a', 1n, true, false]],
    wrong: [[7], ['a', 'b'], ['a', 1n, 'c']],
  },
  'a tuple with a least length': {
    schema: `type: array, prefixItems: [{ type: string }, { type: integer }], items: false, minItems: 1`,
    right: [['a'], ['a', 1]],
    wrong: [[], ['a', 1, 2], [1]],
  },
  'a tuple with any items': {
    schema: `type: array, prefixItems: [{ type: string }]`,
    right: [[], ['a', 1, {}]],
    wrong: [[1]],
  },
  'a tuple with unevaluatedItems': {
    schema: `type: array, prefixItems: [{ type: string }], unevaluatedItems: false`,
    right: [[], ['a']],
    wrong: [['a', 1]],
  },
  'tuples of several parts': {
    schema: `allOf: [{ type: array, prefixItems: [{ type: string }] }, { items: { type: [string, integer] } }]`,
    right: [['a', 1], []],
    wrong: [[1], [true]],
  },
  'an object of any members': {
    schema: 'type: object',
    right: [{}, { a: [1] }],
    wrong: ['x', null],
  },
  'an object of other members only': {
    schema: 'type: object, additionalProperties: { type: [string, integer] }',
    right: [{}, { a: 'b', c: 1 }],
    wrong: [{ a: true }, { a: [] }],
  },
  'an object of no members': {
    schema: 'type: object, additionalProperties: false',
    right: [{}],
    wrong: [{ a: 1 }],
  },
  'a required member without a schema': {
    schema: 'type: object, required: [a]',
    right: [{ a: 1 }],
    wrong: [{}],
  },
  'booleans as schemas': {
    schema: `type: object, properties: { a: true, b: false }, patternProperties: { '^x': true, '^y': false }, allOf: [true, { required: [a] }], $defs: { c: true, d: false }`,
    right: [{ a: 1, x: 2 }],
    wrong: [{ a: 1, b: 1 }, {}],
  },
  $defs: {
    schema: `type: object, properties: { a: { $ref: '#/components/schemas/A/$defs/b' } }, $defs: { b: { type: object, properties: { c: ${int64}, d: { $ref: '#/components/schemas/A/$defs/b' } } } }`,
    right: [{ a: { c: 1n, d: { d: {} } } }, {}],
    wrong: [{ a: { c: 'x' } }],
  },
  '$ref with keywords beside it': {
    schema: `$ref: '#/components/schemas/B', required: [n], properties: { n: { type: string } }`,
    right: [{ n: 'a', b: 1n }],
    wrong: [{ b: 1n }, { n: 1 }],
  },
  'a schema that leads back to itself in parts': {
    schema: `allOf: [{ $ref: '#/components/schemas/B' }, { type: object, properties: { next: { $ref: '#/components/schemas/A' } } }]`,
    right: [{ b: 1n, next: { b: 2n, next: {} } }],
    wrong: [{ next: 7 }, { next: { b: 'x' } }],
  },
  conditions: {
    schema: `type: object, properties: { k: { type: string } }, if: { properties: { k: { const: a } }, required: [k] }, then: { properties: { a: { type: integer } } }, else: { properties: { b: { type: string } } }, dependentSchemas: { k: { properties: { c: { type: integer } } } }`,
    right: [{ k: 'a', a: 1, c: 2 }, { b: 'x' }],
    wrong: [{ k: 1 }],
  },
  'enums and constants': {
    schema: `type: object, properties: { a: { enum: [x, 1, null, { y: [1] }] }, b: { const: null }, c: { type: string, nullable: true, enum: [z, null] }, d: { allOf: [{ enum: [x, y] }, { enum: [y, z] }] }, e: { type: object, enum: [{}] } }`,
    right: [{ a: 'x', b: null, c: null, d: 'y', e: {} }, { a: { y: [1] } }],
    wrong: [{ a: 'y' }, { b: 1 }, { c: 'x' }, { d: 'x' }],
  },
  alternatives: {
    schema: `oneOf: [{ type: object, required: [kind, n], properties: { kind: { const: a }, n: ${int64} } }, { type: object, required: [kind], properties: { kind: { const: b } }, additionalProperties: { type: string } }, { type: string }]`,
    right: [{ kind: 'a', n: 1n }, { kind: 'b', more: 'x' }, 'x'],
    wrong: [{ kind: 'c' }, { kind: 'a' }, 7],
  },
  'an alternative that allows nothing': {
    schema: 'anyOf: [false, { type: string }]',
    right: ['a'],
    wrong: [7],
  },
  'alternatives of what may be a text': {
    schema: `type: [object, string, 'null'], anyOf: [{ required: [a] }, { required: [b], properties: { b: ${int64} } }]`,
    right: [{ a: 1 }, { b: 1n }, 'x', null],
    wrong: [{ c: 1 }, 7],
  },
  'alternatives that have names, with an int64': {
    schema: `properties: { b: ${int64} }, anyOf: [{ $ref: '#/components/schemas/B' }, { $ref: '#/components/schemas/D' }], type: object`,
    right: [{ b: 7n }, { b: 1n, d: 'x' }],
    wrong: [{ b: 'x' }],
  },
  'an int64, or a number': {
    schema: 'type: array, items: { type: [integer, number], format: int64 }',
    right: [[1n, 2n]],
    wrong: [['x']],
  },
  'names that are no words': {
    schema: `type: object, required: ['a-b', '1', constructor], properties: { 'a-b': { type: string }, '1': { type: integer }, constructor: { type: boolean }, '': { type: string } }`,
    right: [{ 'a-b': 'c', '1': 1, constructor: true, '': 'x' }],
    wrong: [{ 'a-b': 1, '1': 1, constructor: true }],
  },
  'marks in parts': {
    schema: `allOf: [{ $ref: '#/components/schemas/C' }], type: object, properties: { s: { type: string } }, required: [s, r]`,
    right: [],
    request: [{ s: 'x' }],
    answer: [{ r: 'y' }],
    wrong: [{ r: 1, s: 1 }],
  },
  'a mark in a list': {
    schema: `type: array, items: { $ref: '#/components/schemas/C' }`,
    right: [],
    request: [[{ s: 'x' }]],
    answer: [[{ r: 'y' }]],
    wrong: [[{ s: 7, r: 7 }]],
  },
}
const OTHERS = `B: { type: object, properties: { b: ${int64} } }
D: { type: object, properties: { b: { type: integer, minimum: 0 }, d: { type: string } } }
C: { type: object, properties: { r: { type: string, readOnly: true }, s: { type: string, writeOnly: true } } }`

/** The deepest nesting of a value before tsc crashes. */
const MAX_LEVELS = 20

/** A value as TypeScript code; undefined for a stream, or if it is nested too deeply. */
function written(value: unknown, level = 0): string | undefined {
  if (level > MAX_LEVELS) return undefined
  if (typeof value === 'bigint') return `${value}n`
  if (value === undefined) return 'undefined'
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  return Array.isArray(value) ? writtenList(value, level) : writtenObject(value, level)
}

function writtenList(list: readonly unknown[], level: number): string | undefined {
  const items = list.map((item) => written(item, level + 1))
  return items.includes(undefined) ? undefined : `[${items.join(', ')}]`
}

function writtenObject(value: object, level: number): string | undefined {
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== null && prototype !== Object.prototype) return undefined
  const members: string[] = []
  for (const [name, member] of Object.entries(value)) {
    const text = written(member, level + 1)
    if (text === undefined) return undefined
    members.push(`${JSON.stringify(name)}: ${text}`)
  }
  return `{ ${members.join(', ')} }`
}

/** Snippets of TypeScript: each is a line of a file beside the types of a contract. */
class Program {
  readonly #folder: string
  readonly #files = new Map<string, { text: string; isRight: boolean; what: string }[]>()

  constructor(folder: string) {
    this.#folder = folder
  }

  /** Generates the types of a contract. @returns a function to add a snippet of a type and a value */
  async add({ yaml, files = {}, product }: Served) {
    const folder = `${this.#folder}/${this.#files.size}`
    mkdirSync(folder, { recursive: true })
    for (const [name, text] of Object.entries({ 'openapi.yaml': contract(yaml), ...files }))
      writeFileSync(`${folder}/${name}`, text)
    const target = `${folder}/contract.gen.ts`
    writeFileSync(target, await generateTypes(`${folder}/openapi.yaml`, target, product))
    const snippets: { text: string; isRight: boolean; what: string }[] = []
    this.#files.set(`${folder}/snippets.ts`, snippets)
    return (what: string, type: string, value: unknown, isRight = true) => {
      const text = written(value)
      if (text === undefined) return
      snippets.push({
        what,
        text: `export const v${snippets.length}: ${type} = any(${text})`,
        isRight,
      })
    }
  }

  get size(): number {
    return [...this.#files.values()].flat().length
  }

  /** Compiles all snippets, and compares the errors with the expected ones. */
  check(t: Test): void {
    for (const [file, snippets] of this.#files)
      writeFileSync(file, [...snippets.map(({ text }) => text), HEAD].join('\n'))
    const compilerOptions = { noUnusedLocals: false, types: ['node'] }
    const settings = { extends: resolve('tsconfig.json'), include: ['**/*.ts'], compilerOptions }
    writeFileSync(`${this.#folder}/tsconfig.json`, JSON.stringify(settings))
    const words = ['node_modules/typescript/bin/tsc', '-p', this.#folder]
    const { stdout, stderr } = spawnSync(process.execPath, words, { encoding: 'utf8' })
    t.equal(stderr, '', 'tsc does not crash')
    const errors = new Map(
      stdout.split(/\n(?=\S)/).map((error) => {
        const [, file = '', line = ''] = /^(.*?)\((\d+),/.exec(error) ?? []
        return [`${resolve(file)}:${line}`, error]
      }),
    )
    for (const [file, snippets] of this.#files)
      for (const [index, { text, isRight, what }] of snippets.entries()) {
        const place = `${resolve(file)}:${index + 1}`
        const error = errors.get(place)
        errors.delete(place)
        t.equal(error === undefined, isRight, `${what}: ${text}`, { error })
      }
    t.strictSame([...errors.values()].filter(Boolean), [], 'no other errors')
  }
}

const HEAD = `import type { operations, Request, Result } from './contract.gen.ts'
type AnyRequest = { [Id in keyof operations]: Request<Id> }[keyof operations]
type AnyResult = { [Id in keyof operations]: Result<Id> }[keyof operations]
type Plain<Value> = Value extends object ? { -readonly [Key in keyof Value]: Plain<Value[Key]> } : Value
/** The same value, which may have members that its type does not name. */
declare function any<const Value>(value: Value): Plain<Value>
`

// All tests share one TypeScript program, because it takes seconds to start.
const program = new Program(t.testdir())

for (const [name, row] of Object.entries(ROWS))
  t.test(`the service sees the values of a schema: ${name}`, (t) => addRow(t, name, row))

/** Adds the snippets of a row, and checks the same values by the service. */
async function addRow(t: Test, name: string, row: Row): Promise<void> {
  const { schema, right, wrong, request = right, answer = right } = row
  const schemas = `A: { ${schema} }\n${OTHERS}`
  const add = await program.add({ yaml: describe(schemas) })
  const service = await serve(t, schemas)
  for (const value of request) {
    const { status, got } = await service.request(exactJson(value))
    t.equal(status, 204, exactJson(value))
    add(name, IN_REQUEST, got)
  }
  for (const value of answer) {
    t.equal((await service.answer(value)).status, 200, exactJson(value))
    add(name, IN_ANSWER, { status: 200, body: value })
  }
  for (const value of wrong) {
    t.equal((await service.request(exactJson(value))).status, 400, exactJson(value))
    t.equal((await service.answer(value)).status, 500, exactJson(value))
    add(name, IN_REQUEST, value, false)
    add(name, IN_ANSWER, { status: 200, body: value }, false)
  }
}

const IN_REQUEST = "Request<'in'>['body']"
const IN_ANSWER = "Result<'out'>"

/** Not tested: TypeScript takes inherited properties for an object's properties. */
const INHERITED = 'parameters and properties named `constructor`, `toString`, `hasOwnProperty`'

for (const [name, how] of TABLE) {
  const construct = CONSTRUCTS[name]
  if (how === 'refused' || construct === undefined || typeof construct === 'string') continue
  if (name === INHERITED) continue
  t.test(`methods get and answer values: ${name.slice(0, 80)}`, async (t) => {
    const add = await program.add(construct)
    for (const { request, result, status } of await record(t, construct)) {
      for (const part of ['path', 'query', 'header', 'cookie', 'body', 'type'] as const)
        add(name, `AnyRequest['${part}']`, request[part])
      if (status === result.status) add(name, 'AnyResult', result)
    }
  })
}

t.test('what is valid fits the types, and what is not does not', async (t) => {
  t.ok(program.size > 500, `${program.size} values`)
  program.check(t)
})

/** Sends the requests of a construct. @returns the requests of methods, with their results and the statuses of the answers */
async function record(t: Test, { run = echo, asks = [], ...construct }: Served) {
  const calls: { request: Input; result: Answer }[] = []
  const app = await boot(t, {
    ...construct,
    run: async (request, id) => {
      const result = await run(request, id)
      calls.push({ request, result })
      return result
    },
  })
  const recorded: { request: Input; result: Answer; status: number }[] = []
  for (const [request] of asks) {
    const { statusCode } = await app.inject(request)
    recorded.push(...calls.splice(0).map((call) => ({ ...call, status: statusCode })))
  }
  return recorded
}
