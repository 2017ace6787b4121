// The rules of ESLint about names and complexity hold for the packages and the tests, not for the methods of a service.
import { ESLint } from 'eslint'
import t from 'tap'
import { fields } from './support/inner/json.ts'

/** The rules of this house, beside those of typescript-eslint. */
const HOUSE_RULES = [
  'complexity',
  'id-denylist',
  'max-nested-callbacks',
  'max-params',
  'max-statements-per-line',
  'no-nested-ternary',
  'no-restricted-syntax',
]

t.test('the methods of a service may have any names and any shape', async (t) => {
  const eslint = new ESLint({ overrideConfigFile: 'test/eslint.config.js' })
  const rulesFor = async (file: string) => {
    const { rules } = fields(await eslint.calculateConfigForFile(file))
    return HOUSE_RULES.filter((rule) => rule in fields(rules))
  }
  t.strictSame(await rulesFor('packages/engine/src/app.ts'), HOUSE_RULES)
  t.strictSame(await rulesFor('test/rooms.test.ts'), HOUSE_RULES)
  t.strictSame(await rulesFor('service/plant-service.ts'), [])
  const { rules } = fields(await eslint.calculateConfigForFile('service/plant-service.ts'))
  const unused = fields(rules)['@typescript-eslint/no-unused-vars']
  t.match(unused, [2, { args: 'none' }], 'a part of the request may be unused')
})
