// The section "Add a resource" of service/engine/README.md, done as it says.
import t from 'tap'
import { blocksOf, copyToFollow, skipAfter } from './walkthrough.ts'

const [paths = '', schema = '', bodies = '', response = '', imported = '', product = '', service = ''] = blocksOf(
  'service/engine/README.md',
  'Add a resource',
)

t.setTimeout(3_600_000)
t.test('a second resource is added', { skip: skipAfter('listGardens') }, async (t) => {
  const { edit, npm, passes } = copyToFollow(t)
  t.ok(service.trim().split('\n').length <= 25, 'the class has at most 25 lines')
  edit('openapi.yaml', /^ {2}\/plants\/\{id\}:/m, (found) => paths + found)
  edit('openapi.yaml', /^ {2}schemas:\n/m, (found) => found + schema)
  edit('openapi.yaml', /^components:\n/m, (found) => found + bodies)
  edit('openapi.yaml', /^ {2}responses:\n/m, (found) => found + response)
  edit('service/product.ts', /^ {2}collections: .*\n {2}services: .*\n/m, () => product)
  edit('service/product.ts', /^import { PlantService } .*\n/m, () => imported)
  edit('service/plant-service.ts', /^}/m, (found) => `${found}\n${service.trimEnd()}`)
  t.equal((await npm('run', 'generate')).code, 0)
  await passes(t)
})
