// Where a `$ref` leads: RFC 6901 for its pointer, JSON Schema 2020-12, section 8.2.3.
import t from 'tap'
import { allows } from './described.ts'

t.test('a pointer names the place that it spells, also behind a schema with a $ref of its own', (t) =>
  allows(
    t,
    `A: { $ref: '#/components/schemas/B/properties/x' }
B: { $ref: '#/components/schemas/C', properties: { x: { type: string } } }
C: { type: object, properties: { x: { type: boolean } } }`,
    ['x'],
    [true],
  ),
)

t.test('a pointer steps into the target of a $ref where the schema lacks the member', (t) =>
  allows(
    t,
    `A: { $ref: '#/components/schemas/B/properties/y' }
B: { $ref: '#/components/schemas/C', minProperties: 1 }
C: { type: object, properties: { y: { type: boolean } } }`,
    [true],
    ['x'],
  ),
)

t.test('a schema may refer to true or false in itself', (t) =>
  allows(t, `A: { $ref: '#/components/schemas/A/$defs/any', maxLength: 1, $defs: { any: true } }`, ['x', 1], ['xy']),
)

t.test('a schema may refer into itself, as generators write it', (t) =>
  allows(
    t,
    `A:
  $ref: '#/components/schemas/A/$defs/Plant'
  $defs: { Plant: { type: object, required: [name], properties: { next: { $ref: '#/components/schemas/A' } } } }`,
    [{ name: 'x', next: { name: 'y' } }],
    [{}, { name: 'x', next: {} }],
  ),
)
