// npm run fuzz [-- --seed <number>] [-- --inputs <number>]: the same seed makes the same inputs.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { parseArgs } from 'node:util'
import { startService } from '../support/process.ts'
import { fuzzOf, issueTokens } from './targets.ts'

const { values } = parseArgs({ options: { seed: { type: 'string' }, inputs: { type: 'string', default: '1000000' } } })
const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31))
const shares = { json: 0.6, parameters: 0.3, requests: 0.1 } as const

const folder = mkdtempSync(`${tmpdir()}/plants-fuzz-`)
const file = `${folder}/plants.db`
const tokens = await issueTokens(file)
const service = await startService(undefined, { DATABASE_URL: `sqlite:${file}`, NODE_ENV: 'production', DOCS: 'off' })
console.log(`seed ${seed}`)
try {
  for (const [name, fuzz] of Object.entries(fuzzOf(service.port, tokens))) {
    const start = performance.now()
    const inputs = await fuzz(Number(values.inputs) * shares[name as keyof typeof shares], seed)
    const seconds = (performance.now() - start) / 1000
    console.log(`${name}: ${inputs} inputs in ${seconds.toFixed(1)} s, ${Math.round(inputs / seconds)} a second`)
  }
  service.child.kill('SIGTERM')
  const { code, stdout, stderr } = await service.ended
  const faults = stdout.split('\n').filter((line) => /"level":(50|60)/.test(line))
  if (code !== 0 || faults.length > 0 || stderr !== '') throw new Error([`exit ${code}`, ...faults, stderr].join('\n'))
} finally {
  service.child.kill('SIGKILL')
  rmSync(folder, { recursive: true })
}
