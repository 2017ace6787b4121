// The types of the properties in indexes come from the schemas of the contract. Others are refused
// by `npm run generate`, and at a start.
import t, { type Test } from 'tap'
import { loadCompiler } from '@plant-store/compiler'
import { storedIndexes } from '../../../../test/support/inner/contract.ts'
import { contract } from '../../../../test/support/contracts/serve-contract.ts'
import { build } from '../../../../test/support/servers/start-product.ts'
import { product } from '../../../../test/support/product/product.ts'
import { defineProduct } from '../../src/index.ts'

const SCHEMAS = `
    Firm:
      allOf:
        - { $ref: '#/components/schemas/Named' }
        - type: object
          properties:
            founded: { type: integer, format: int64 }
            size: { type: integer }
            rate: { type: number }
            isOpen: { type: boolean }
            day: { type: [string, 'null'], format: date }
            old: { type: string, nullable: true }
            state: { enum: [new, used] }
            small: { type: integer, format: int32 }
            large: { type: integer, format: uint64 }
            place: { $ref: '#/components/schemas/Place' }
            tags: { type: array, items: { type: string } }
            any: {}
            mixed: { type: [string, integer] }
            either: { oneOf: [{ type: integer, format: int64 }, { type: integer }] }
            none: { type: 'null' }
    Named:
      type: object
      properties:
        name: { $ref: '#/components/schemas/Name' }
    Name: { type: string, maxLength: 20 }
    Place:
      oneOf:
        - { type: object, properties: { shelf: { type: string }, 'a b': { type: string } } }
        - { type: object, properties: { floor: { type: integer, format: int64 } } }
`

async function compile(t: Test, properties: readonly string[]) {
  const yaml = contract(`paths: {}\ncomponents:\n  schemas:${SCHEMAS}`)
  const folder = t.testdir({ 'openapi.yaml': yaml })
  const firms = { schema: 'Firm', key: 'int64', indexes: { firm: properties } } as const
  const compiler = await loadCompiler()
  const compiled = await compiler.compile(`${folder}/openapi.yaml`, { collections: { firms } })
  return storedIndexes(compiled, 'firms', firms)
}

t.test('the types of properties, through references, allOf and alternatives', async (t) => {
  const types = {
    name: 'string',
    founded: 'int64',
    size: 'number',
    rate: 'number',
    isOpen: 'boolean',
    day: 'string',
    old: 'string',
    state: 'string',
  } as const
  const properties = Object.entries(types).map(([name, type]) => ({ path: [name], type }))
  const read = await compile(t, Object.keys(types))
  t.strictSame(read, [{ name: 'firm', isUnique: false, properties }])
  const nested = await compile(t, ['place.shelf', 'place.a b', 'place.floor', 'small'])
  t.strictSame(nested[0]?.properties, [
    { path: ['place', 'shelf'], type: 'string' },
    { path: ['place', 'a b'], type: 'string' },
    { path: ['place', 'floor'], type: 'int64' },
    { path: ['small'], type: 'number' },
  ])
})

t.test('a property that can be in no index is refused, with its type', async (t) => {
  const table = {
    nam: 'the schema Firm has no property nam',
    'name.first': 'the schema Firm has no property name.first',
    'place.room': 'the schema Firm has no property place.room',
    place: 'place of the schema Firm is object',
    tags: 'tags of the schema Firm is array',
    any: 'any of the schema Firm is any',
    mixed: 'mixed of the schema Firm is string or integer',
    large: 'large of the schema Firm is uint64',
    either: 'either of the schema Firm is int64 or integer',
    none: 'the schema Firm has no property none',
  }
  for (const [name, fault] of Object.entries(table))
    await t.rejects(compile(t, ['name', name]), {
      name: 'StartupError',
      message: `openapi.yaml:1: the index firm of the collection firms: ${fault}`,
    })
  const many = Array.from({ length: 9 }, () => 'name')
  for (const properties of [[], many])
    await t.rejects(compile(t, properties), { message: 'and may have 1 to 8' })
})

t.test('a start refuses an index that does not fit the contract', async (t) => {
  const { readIndexes, ...plants } = product.collections['plants'] ?? { schema: '', key: 'text' }
  t.equal(readIndexes, undefined)
  const wrong = defineProduct({
    ...product,
    collections: { plants: { ...plants, indexes: { nam: ['nam'] } } },
  } as never)
  const fault = 'the index nam of the collection plants: the schema Plant has no property nam'
  await t.rejects(build(t, {}, wrong), { name: 'StartupError', message: fault })
  await t.rejects(async () => wrong.collections['plants']?.readIndexes?.(), { message: fault })
})
