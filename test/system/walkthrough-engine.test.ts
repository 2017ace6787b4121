// The sections "Add a resource" and "Make it your own" of service/engine/README.md, done as they say.
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import t from 'tap'
import { run } from '../support/process.ts'
import { blocksOf, copyToFollow, skipAfter } from './walkthrough.ts'

const README = 'service/engine/README.md'
const added = blocksOf(README, 'Add a resource')
const [, failure = '', remove = '', rename = ''] = blocksOf(README, 'Make it your own')

t.setTimeout(3_600_000)
t.test('a second resource is added', { skip: skipAfter('listGardens') }, async (t) => {
  const [paths = '', schema = '', bodies = '', response = '', imported = '', product = '', service = ''] = added
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

t.test('another product takes the place of plants, with the files of test/system/books/', async (t) => {
  const { folder, npm, passes } = copyToFollow(t)
  copyFileSync('test/system/books/openapi.yaml', `${folder}/openapi.yaml`)
  t.match(readFileSync(`${folder}/openapi.yaml`, 'utf8'), added.at(-1) ?? '', 'the schema of a text key in a path')
  const dry = await npm('run', 'generate', '--', '--dry-run', 'openapi.yaml')
  t.match(dry.stdout, /^6 of 6 operations are served$/m)
  for (const file of ['product', 'library']) {
    copyFileSync(`test/system/books/${file}.ts.txt`, `${folder}/service/${file}.ts`)
  }
  writeFileSync(`${folder}/service/failure.ts`, failure)
  for (const each of [remove, rename]) t.match(await run(['sh', '-ec', each], {}, folder), { code: 0 })
  await passes(t)
})
