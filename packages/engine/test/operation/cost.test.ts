// No request takes more than seven times the processor time of JSON.parse with a function on a list
// of as many bytes, whether the request is accepted or refused: about 150 ms for 100 KiB.
import type { InjectOptions } from 'fastify'
import t from 'tap'
import { boot } from '../../../../test/support/contracts/serve-contract.ts'
import { post, urlencoded } from '../../../../test/support/contracts/exchanges.ts'

const SIZE = 100 * 2 ** 10 // bytes
const MAX_RATIO = 7
const MAX_TRIES = 6

const INT64 = '{ type: integer, format: int64 }'
const FIELDS = `type: object, properties: { nums: { type: array, items: ${INT64} }, either: { anyOf: [{ type: integer }, { type: array, items: { type: integer } }] } }`
/** By path. */
const SCHEMAS: Readonly<Record<string, string>> = {
  any: '{}',
  int64s: `{ type: array, items: ${INT64} }`,
  numbers: '{ type: array, items: { type: number, multipleOf: 0.01 } }',
  objects: `{ type: array, items: { type: object, required: [a], properties: { a: ${INT64}, b: { type: string, maxLength: 9, default: x } }, additionalProperties: false } }`,
  defaults: "{ type: array, items: { $ref: '#/components/schemas/level59' } }",
  tree: "{ $ref: '#/components/schemas/tree' }",
  alternatives: `{ type: array, items: { anyOf: [${INT64}, { type: integer, minimum: 5 }, { type: string, format: email }, { type: 'null' }] } }`,
  oneOf: `{ type: array, items: { oneOf: [{ type: object, required: [a] }, { type: object, required: [b] }, ${INT64}, { type: string }] } }`,
  unique: '{ type: array, uniqueItems: true }',
  nested: "{ $ref: '#/components/schemas/nested' }",
  contained: `{ type: array, contains: { const: 7 }, unevaluatedItems: ${INT64} }`,
  patterns: `{ type: object, patternProperties: { ^a: ${INT64}, z$: { type: integer } }, propertyNames: { maxLength: 9 } }`,
}

/** Schemas whose defaults are in each other: a value of the last one gets as many. */
const LEVELS = Array.from({ length: 60 }, (_, level) => {
  const inner = `$ref: '#/components/schemas/level${level - 1}', default: {}`
  return `level${level}: { type: object, properties: { ${level > 0 ? `a: { ${inner} }` : ''} } }`
})

const media = Object.entries(SCHEMAS).map(
  ([name, schema]) => `application/${name}+json: { x-body-limit: ${SIZE}, schema: ${schema} }`,
)
const app = await boot(t, {
  yaml: `paths:
  /x:
    post:
      operationId: run
      requestBody:
        content:
          ${media.join('\n          ')}
          text/plain: {}
          application/x-www-form-urlencoded: { schema: { ${FIELDS} } }
          multipart/form-data: { schema: { ${FIELDS} } }
      responses: { '204': { description: Done } }
components:
  schemas:
    nested: { anyOf: [${INT64}, { type: array, items: { $ref: '#/components/schemas/nested' } }, { type: 'null' }] }
    ${LEVELS.join('\n    ')}
    tree: { type: object, properties: { n: ${INT64}, of: { type: array, items: { $ref: '#/components/schemas/tree' } } } }
`,
  run: async () => ({ status: 204 }),
})

/** A string, repeated to this length. */
const repeated = (text: string, length = SIZE) => text.repeat(length / text.length)
/** As many different strings as fit. */
function many(textOf: (index: number) => string, separator = ','): string {
  const texts: string[] = []
  for (let length = 2, index = 0; ; index += 1) {
    const text = textOf(index)
    length += text.length + separator.length
    if (length > SIZE) return texts.join(separator)
    texts.push(text)
  }
}
const list = (textOf: (index: number) => string) => `[${many(textOf)}]`
const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels)
const multipart = (text: string) => post(text, 'multipart/form-data; boundary=b')
const part = (rest: string) => `--b\r\nContent-Disposition: form-data; name=${rest}\r\n`
const json = (path: string, text: string) => post(text, `application/${path}+json`)

/** By name: a request, and its status. */
const REQUESTS: Readonly<
  Record<string, readonly [request: InjectOptions | string, status: number]>
> = {
  'a list of int64': [
    json(
      'int64s',
      list(() => '7'),
    ),
    204,
  ],
  'a list of int64 of 16 digits': [
    json(
      'int64s',
      list(() => '9007199254740993'),
    ),
    204,
  ],
  'a list of int64, of which one has 16 digits': [
    json('int64s', `[9007199254740993,${many(() => '7').slice(40)}]`),
    204,
  ],
  'a list of int64, of which the last is none': [
    json('int64s', `[${many(() => '7').slice(8)},""]`),
    400,
  ],
  'a list of numbers with exponents': [
    json(
      'numbers',
      list(() => '1e300'),
    ),
    204,
  ],
  'a number of digits': [json('any', '7'.repeat(SIZE)), 400],
  'a fraction of digits': [json('any', `1.${'0'.repeat(SIZE - 3)}1`), 204],
  'a list of objects': [
    json(
      'objects',
      list(() => '{"a":7}'),
    ),
    204,
  ],
  'a list of objects without a member': [
    json(
      'objects',
      list(() => '{}'),
    ),
    400,
  ],
  'a list of objects whose defaults have defaults': [
    json(
      'defaults',
      list(() => '{}'),
    ),
    400,
  ],
  'as many defaults as there may be': [json('defaults', `[${repeated('{},', 5000)}{}]`), 204],
  'lists of 90 levels, each with alternatives': [
    json('nested', `[${repeated(`${nested(90)},`, SIZE - 3)}7]`),
    204,
  ],
  'a wide tree': [json('tree', `{"of":[${many(() => '{}').slice(9)}]}`), 204],
  'lists of 98 levels': [
    json(
      'any',
      list(() => nested(98)),
    ),
    204,
  ],
  'lists of 50,000 levels': [json('any', nested(SIZE / 2)), 400],
  'lists that do not end': [json('any', '['.repeat(SIZE)), 400],
  'members of many names': [json('any', `{${many((index) => `"${index}":0`)}}`), 204],
  'members of one name': [json('any', `{${many(() => '"":0')}}`), 400],
  'a text of escapes': [json('any', `"${repeated('\\"', SIZE - 2)}"`), 204],
  'texts of colons': [
    json(
      'any',
      list(() => '":"'),
    ),
    204,
  ],
  'alternatives: integers': [
    json(
      'alternatives',
      list(() => '7'),
    ),
    204,
  ],
  'alternatives: null': [
    json(
      'alternatives',
      list(() => 'null'),
    ),
    204,
  ],
  'one of several: integers': [
    json(
      'oneOf',
      list(() => '7'),
    ),
    204,
  ],
  'one of several: objects': [
    json(
      'oneOf',
      list(() => '{"a":0}'),
    ),
    204,
  ],
  'different items': [
    json(
      'unique',
      list((index) => `[${index}]`),
    ),
    204,
  ],
  'equal items': [
    json(
      'unique',
      list(() => '[]'),
    ),
    400,
  ],
  'contained items': [
    json(
      'contained',
      list(() => '7'),
    ),
    204,
  ],
  'members of a pattern': [json('patterns', `{${many((index) => `"a${index}":0`)}}`), 204],
  'a form of names without values': [urlencoded(repeated('x&')), 413],
  'a form of names': [urlencoded(many((index) => `${index}`, '&')), 413],
  'a form of ampersands': [urlencoded('&'.repeat(SIZE)), 204],
  'a form of a long list': [urlencoded(repeated('nums=7&', 7000)), 204],
  'a form of a list or a value': [urlencoded(repeated('either=7&', 9000)), 204],
  'a form of percent-escapes': [urlencoded(`a=${repeated('%41', SIZE - 2)}`), 204],
  'a form of parts': [multipart(`${many(() => `${part('a')}\r\n`, '\r\n')}\r\n--b--`), 413],
  'a form of files': [multipart(many((id) => `${part(`${id}; filename=a`)}\r\n`, '\r\n')), 413],
  'a form of delimiters': [multipart(repeated('--b\r\n')), 400],
  'a form of what is almost a delimiter': [
    multipart(`${part('a')}\r\n${repeated('\r\n--', SIZE)}\r\n--b--`),
    204,
  ],
  'a part of headers': [multipart(`${part('a')}${repeated('X: y\r\n')}\r\n\r\n--b--`), 204],
  'a part with a long header': [
    multipart(`${part(`a; b="${'c'.repeat(SIZE)}"`)}\r\n\r\n--b--`),
    204,
  ],
  'a part with parameters': [
    multipart(`${part(`a${many((id) => `; p${id}=b`, '')}`)}\r\n\r\n--b--`),
    204,
  ],
  'a part with spaces': [multipart(`${part(`a;${' '.repeat(SIZE)}x`)}\r\n\r\n--b--`), 400],
}

/** The milliseconds of processor time for a run. */
async function measure(run: () => unknown): Promise<number> {
  const before = process.cpuUsage()
  await run()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

const integers = list(() => '7')
const parse = (): unknown => JSON.parse(integers, (_name, value: unknown) => value)

for (const [name, [request, status]] of Object.entries(REQUESTS)) {
  t.test(`it takes little processor time: ${name}`, async (t) => {
    let time = Infinity
    let unit = Infinity
    // The least of some tries: the first ones are not yet compiled, and a busy machine makes others
    // slower.
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      unit = Math.min(unit, await measure(parse))
      const answer = { statusCode: 0, body: '' }
      const ask = async () => Object.assign(answer, await app.inject(request))
      time = Math.min(time, await measure(ask))
      t.equal(answer.statusCode, status, answer.body)
      if (time < (unit * MAX_RATIO) / 2) break
    }
    const figures = `${Math.round(time)} ms, and JSON.parse ${Math.round(unit)} ms`
    t.ok(time <= unit * MAX_RATIO, figures)
  })
}
