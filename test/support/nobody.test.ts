// What runs as nobody reaches the files of root: the project may be in a folder that only root may enter.
import { spawnSync } from 'node:child_process'
import { chmodSync } from 'node:fs'
import { tmpdir } from 'node:os'
import t from 'tap'
import { asNobody } from './nobody.ts'
import { startPostgres } from './postgres.ts'

const folder = t.testdir({ 'a file': 'a text' })
chmodSync(`${folder}/a file`, 0o600)
chmodSync(folder, 0o700)

t.test('a program that refuses to run as root reads a file that only this user may read', async (t) => {
  const script = `const { accessSync, constants, readFileSync } = require('node:fs')
    accessSync(process.argv[1], constants.R_OK)
    console.log(process.getuid(), readFileSync(process.argv[1], 'utf8'))`
  const [file, ...words] = asNobody([process.execPath, '-e', script, `${folder}/a file`])
  const { stdout, stderr } = spawnSync(file, words, { encoding: 'utf8', env: {} })
  t.match(stdout, /^[1-9]\d* a text\n$/, stderr)
})

t.test('PostgreSQL starts in a folder that only this user may enter', async (t) => {
  process.env['TMPDIR'] = folder
  t.equal(tmpdir(), folder)
  const { sql } = await startPostgres(t)
  t.strictSame(await sql('SELECT 1 AS n'), [{ n: 1 }])
})
