// Runs Redocly's linter as a program that reads the folder of a contract only: it follows each reference, so the author of a
// document could make it ask any URL and read any file.
import { spawnSync } from 'node:child_process'
import { realpathSync } from 'node:fs'
import { dirname, extname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Product } from '@plant-store/engine'
import { readWords, runCommand } from '@plant-store/engine/for-commands'

const LINTER = fileURLToPath(import.meta.resolve('@redocly/cli/bin/cli.js'))
/** In a package, this file and offline.ts are JavaScript. */
const OFFLINE = import.meta.resolve(`./offline${extname(import.meta.filename)}`)
/** The linter's file of ignored problems. */
export const LEFT_OUT = '.redocly.lint-ignore.yaml'
const USAGE = `usage: lint <file>              says what the linter finds in a document
       [--format=stylish]      a line for each problem
       [--generate-ignore-file]  from now on it leaves out what it finds today`
const OPTIONS = {
  format: { type: 'string' },
  'generate-ignore-file': { type: 'boolean' },
} as const

/**
 * The arguments with which Node runs the linter in a folder. Node's permissions (https://nodejs.org/api/permissions.html) deny
 * other files, and offline.ts denies the network.
 * @param words the name of a document, and options of the linter
 * @param folders to read, besides the working folder
 */
export function linterWords(
  folder: string,
  words: readonly string[],
  folders: readonly string[],
): string[] {
  const here = realpathSync(folder)
  const packages = resolve(dirname(LINTER), '../../..')
  const readable = [resolve(folder), here, packages, dirname(import.meta.dirname), ...folders]
  return [
    '--permission',
    ...readable.map((path) => `--allow-fs-read=${path}`),
    `--allow-fs-write=${join(here, LEFT_OUT)}`,
    `--import=${OFFLINE}`,
    LINTER,
    'lint',
    ...words,
  ]
}

/** Runs the command, in the working folder. */
export function lint({ contract, refsWithin = '.' }: Product): Promise<void> {
  return runCommand(USAGE, (words) => {
    const { args, values } = readWords(words, ['<file>'], OPTIONS)
    const options = Object.entries(values).map(([name, value]) =>
      value === true ? `--${name}` : `--${name}=${value}`,
    )
    const widest = resolve(dirname(fileURLToPath(contract.file)), refsWithin)
    const linting = linterWords('.', [args[0], ...options], [widest])
    const { status } = spawnSync(process.execPath, linting, { stdio: 'inherit' })
    if (status !== 0) process.exitCode = 1
    return Promise.resolve([])
  })
}
