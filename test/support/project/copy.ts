// Copies the project into a folder of a test, where the test may change it.
import fs, { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Test } from 'tap'

/** The variables with which npm reaches a registry: its proxy, certificates and settings. */
const REGISTRY =
  /^(HOME|NODE_EXTRA_CA_CERTS|SSL_CERT_\w+|(https?|no)_proxy|npm_config_(cache|registry))$/i
export const FOR_REGISTRY: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(process.env).flatMap(([name, value = '']) =>
    REGISTRY.test(name) ? [[name, value]] : [],
  ),
)
const settings = Object.entries(FOR_REGISTRY).map(([name, value]) => `${name}=${value}`)
/** npm without tap's hooks: nobody needs the coverage of a copy, and Node 26 crashes when it measures linters. */
export const NPM = ['env', '-u', 'NODE_OPTIONS', ...settings, 'npm']

/** Copies the project. The packages are shared. @returns the folder of the copy */
export function copyProject(t: Test): string {
  // With this, tap removes the folder after the teardowns, which end the processes that write to it.
  t.teardown(() => undefined)
  const folder = t.testdir()
  const ignored = ['.git', ...readFileSync('.gitignore', 'utf8').split(/\/?\n/)]
  for (const name of readdirSync('.').filter((entry) => !ignored.includes(entry))) {
    fs.cpSync(name, `${folder}/${name}`, { recursive: true, preserveTimestamps: true })
  }
  linkPackages(folder)
  return folder
}

/** Links the packages into a copy of the project. Ours are those of the copy. */
function linkPackages(folder: string): void {
  const target = `${folder}/node_modules`
  fs.mkdirSync(`${target}/@plant-store`, { recursive: true })
  for (const name of readdirSync('node_modules').filter((entry) => entry !== '@plant-store'))
    fs.symlinkSync(resolve('node_modules', name), `${target}/${name}`)
  for (const name of readdirSync('node_modules/@plant-store'))
    fs.symlinkSync(`../../packages/${name}`, `${target}/@plant-store/${name}`)
}

/** Replaces the product in a copy of the project with the tests' product. */
export function putTestProduct(folder: string): void {
  const from = 'test/support/product'
  // The classes of a product have any names. The programs stay.
  const others = readdirSync('service').filter(
    (name) => name.endsWith('.ts') && !existsSync(`${from}/${name}`),
  )
  for (const name of others) fs.rmSync(`${folder}/service/${name}`, { force: true })
  fs.copyFileSync(`${from}/openapi.yaml`, `${folder}/openapi.yaml`)
  fs.rmSync(`${folder}/.redocly.lint-ignore.yaml`, { force: true }) // it is about another contract
  for (const name of ['product', 'plant-service', 'note-service', 'changes', 'contract.gen']) {
    const text = readFileSync(`${from}/${name}.ts`, 'utf8').replace(
      "'./openapi.yaml'",
      "'../openapi.yaml'",
    )
    writeFileSync(`${folder}/service/${name}.ts`, text.replaceAll('../../../service/', './'))
  }
}
