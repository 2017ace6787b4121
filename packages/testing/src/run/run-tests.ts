// `npm test -- <files>`: runs the named tests, or all tests in .taprc, --jobs of them at a time. A file is ended after
// --timeout seconds. At the end it prints failures, the number of checks, and the time.
import { spawnSync } from 'node:child_process'
import { existsSync, globSync, readFileSync, rmSync, statSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { basename, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { parse } from 'yaml'
import type { Product } from '@plant-store/engine'
import { missingStatuses } from '../answers/missing-statuses.ts'
import { ANSWERS } from '../answers/statuses.ts'
import { isObject } from '../json/fields.ts'
import { TestFiles } from './test-files.ts'

/** The options of a run. */
export interface RunOptions {
  /** The slowest files. They begin first: a late one would hold up the end. */
  readonly first?: RegExp
}

/** The fields of `.taprc` for a run. */
interface Settings {
  readonly include: readonly string[]
  /** In seconds. */
  readonly timeout: number
  /** Whether it changes the plugins of tap. */
  readonly hasPlugins: boolean
}

const SETTINGS = '.taprc'
/** The output of `tap build`: tap, with the plugins of `.taprc`. */
const BUILT = 'node_modules/@tapjs/test/test-built/package.json'
/** The product of a service. */
const PRODUCT = 'service/product.ts'

/** Runs the tests named on the command line, or all. Sets the exit code of the process. */
export async function runTests({ first }: RunOptions = {}): Promise<void> {
  const settings = readSettings()
  const { values, positionals } = parseArgs({
    options: {
      // Two more jobs than processors, because many tests mostly wait.
      jobs: { type: 'string', default: String(availableParallelism() + 2) },
      timeout: { type: 'string', default: String(settings.timeout) },
    },
    allowPositionals: true,
  })
  if (settings.hasPlugins) buildTap()
  const isWhole = positionals.length === 0
  if (isWhole) rmSync(ANSWERS, { force: true })
  const files = isWhole ? globSync([...settings.include]).sort() : positionals
  const tests = new TestFiles(files, { first, seconds: Number(values.timeout) })
  await tests.run(Number(values.jobs))
  const isComplete = !isWhole || (await hasAllStatuses([...tests.written]))
  tests.report()
  process.exitCode = tests.areGreen && isComplete ? 0 : 1
}

function readSettings(): Settings {
  const text = existsSync(SETTINGS) ? readFileSync(SETTINGS, 'utf8') : ''
  const settings: unknown = parse(text)
  const { include, timeout, plugin } = isObject(settings) ? settings : {}
  return {
    include: Array.isArray(include) ? include.map(String) : ['test/**/*.test.ts'],
    timeout: Number(timeout ?? 600),
    hasPlugins: plugin !== undefined,
  }
}

/** Builds tap if its packages, or its plugins, have changed. */
function buildTap(): void {
  const builtAt = statSync(BUILT, { throwIfNoEntry: false })?.mtimeMs ?? 0
  const isNewer = (file: string) =>
    (statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0) > builtAt
  if ([SETTINGS, 'node_modules/.package-lock.json'].some(isNewer))
    spawnSync('tap', ['build'], { stdio: 'inherit' })
}

/**
 * Names each declared status which no test has produced. Some need tests written for the service: as long as there are none,
 * nothing is demanded.
 */
async function hasAllStatuses(files: readonly string[]): Promise<boolean> {
  if (!existsSync(PRODUCT)) return true
  const { product } = (await import(resolve(PRODUCT))) as { product: Product } // `product.ts` exports it
  const missing = await missingStatuses(product)
  for (const text of missing) console.error(text)
  const hasOwn = files.some((file) => basename(file) !== 'contract.test.ts')
  return !hasOwn || missing.length === 0
}
