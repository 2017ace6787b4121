// The section "Make it your own" of service/engine/README.md, done as it says, with the files of test/system/books/.
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import t from 'tap'
import { run } from '../support/process.ts'
import { blocksOf, copyToFollow } from './walkthrough.ts'

const README = 'service/engine/README.md'
const [, failure = '', remove = '', rename = ''] = blocksOf(README, 'Make it your own')
/** The schema of a text key in a path. */
const schema = blocksOf(README, 'Add a resource').at(-1) ?? ''

t.setTimeout(3_600_000)
t.test('another product takes the place of plants', async (t) => {
  const { folder, npm, passes } = copyToFollow(t)
  copyFileSync('test/system/books/openapi.yaml', `${folder}/openapi.yaml`)
  t.match(readFileSync(`${folder}/openapi.yaml`, 'utf8'), schema)
  const dry = await npm('run', 'generate', '--', '--dry-run', 'openapi.yaml')
  t.match(dry.stdout, /^8 of 8 operations are served$/m)
  for (const file of ['product', 'library']) {
    copyFileSync(`test/system/books/${file}.ts.txt`, `${folder}/service/${file}.ts`)
  }
  writeFileSync(`${folder}/service/failure.ts`, failure)
  for (const each of [remove, rename]) t.match(await run(['sh', '-ec', each], {}, folder), { code: 0 })
  await passes(t)
})
