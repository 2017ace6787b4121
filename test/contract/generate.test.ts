import { spawnSync } from 'node:child_process'
import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import t from 'tap'
import { generateTypes } from '../../service/generate.ts'

t.test('the types are those of the contract, with int64 as bigint', async (t) => {
  const types = await generateTypes('openapi.yaml')
  t.equal(readFileSync('service/contract/contract.gen.ts', 'utf8'), types)
  t.match(types, 'PlantId: bigint;')
  t.match(types, /limit\?: number;/)
})

t.test('a parameter with a default stays optional: nothing fills it in', async (t) => {
  const yaml = readFileSync('openapi.yaml', 'utf8')
  const file = `${t.testdir()}/openapi.yaml`
  writeFileSync(file, yaml.replaceAll("tag: { $ref: '#/components/schemas/Tag' }", 'tag: { type: string, default: x }'))
  t.match(await generateTypes(file), 'tag?: string;')
})

t.test('what breaks the schema of OpenAPI is refused', async (t) => {
  const file = `${t.testdir()}/openapi.yaml`
  writeFileSync(file, readFileSync('openapi.yaml', 'utf8').replace(/^ {2}version: .*\n/m, ''))
  await t.rejects(generateTypes(file), { name: 'StartupError', message: /openapi\.yaml: .*required.*version/ })
})

t.test('generate writes the types, and with --check fails if they are stale', async (t) => {
  const folder = t.testdir()
  cpSync('service', `${folder}/service`, { recursive: true })
  const yaml = readFileSync('openapi.yaml', 'utf8')
  const generate = (...words: string[]) =>
    spawnSync(process.execPath, ['service/generate.ts', ...words], { cwd: folder, encoding: 'utf8' })
  writeFileSync(`${folder}/openapi.yaml`, yaml)
  t.equal(generate('--check').status, 0)
  writeFileSync(`${folder}/openapi.yaml`, yaml.replaceAll('deletePayout', 'removePayout'))
  const stale = generate('--check')
  t.equal(stale.status, 1)
  t.match(stale.stderr, /npm run generate/)
  t.notMatch(readFileSync(`${folder}/service/contract/contract.gen.ts`, 'utf8'), 'removePayout')
  t.equal(generate().status, 0)
  t.match(readFileSync(`${folder}/service/contract/contract.gen.ts`, 'utf8'), 'removePayout')
  t.equal(generate('--check').status, 0)

  writeFileSync(`${folder}/openapi.yaml`, 'info:\n  title: a: b')
  t.match(generate().stderr, /openapi\.yaml:2: Nested mappings/)
})
