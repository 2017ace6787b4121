// The section "Make it your own" of service/engine/README.md, done as it says, with the files of test/system/books/.
import { copyFileSync } from 'node:fs'
import t from 'tap'
import { run } from '../support/process.ts'
import { blocksOf, copyToFollow } from './walkthrough.ts'

const [, remove = '', rename = ''] = blocksOf('service/engine/README.md', 'Make it your own')

t.setTimeout(3_600_000)
t.test('another product takes the place of plants', async (t) => {
  const { folder, npm, passes } = copyToFollow(t)
  copyFileSync('test/system/books/openapi.yaml', `${folder}/openapi.yaml`)
  const dry = await npm('run', 'generate', '--', '--dry-run', 'openapi.yaml')
  t.match(dry.stdout, /^5 of 5 operations are served$/m)
  for (const file of ['product', 'library']) {
    copyFileSync(`test/system/books/${file}.ts.txt`, `${folder}/service/${file}.ts`)
  }
  for (const each of [remove, rename]) t.match(await run(['sh', '-ec', each], {}, folder), { code: 0 })
  await passes(t)
})
