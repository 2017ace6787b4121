// Shared by all commands: reads the command line, prints the usage and reports errors.
import { parseArgs, type ParseArgsOptionsConfig } from 'node:util'
import { isTakenByNpm } from '../config.ts'
import { reasonOf } from '../errors.ts'
import { print, printError } from '../ops/terminal.ts'

/** The values of options, as `util.parseArgs` types them. */
type Values<Options extends ParseArgsOptionsConfig> = ReturnType<
  typeof parseArgs<{ args: string[]; options: Options; allowPositionals: true }>
>['values']

const SEE_HELP = ' (--help prints the usage)'

/**
 * Runs a command. `--help` prints the usage. An error becomes one line on standard error, and the
 * exit code 1.
 * @param main gets the words of the command line, and returns the lines to print, if any
 */
export async function runCommand(
  usage: string,
  main: (words: string[]) => Promise<readonly string[]>,
): Promise<void> {
  const words = process.argv.slice(2)
  try {
    const isHelp = words.includes('--help') || words.includes('-h')
    const lines = isHelp ? usage.split('\n') : await main(words)
    if (lines.length > 0) print(lines)
  } catch (error) {
    printError([reasonOf(error).replaceAll(/\s*\n\s*/g, ' ')])
    process.exitCode = 1
  }
}

/**
 * Reads the words of a command.
 * @param names of the arguments: all of them are required, and no others are allowed
 * @param options as `util.parseArgs` takes them
 * @returns the arguments in the order of their names, and the values of the options
 * @throws {Error} naming the wrong word
 */
export function readWords<
  const Names extends readonly string[],
  Options extends ParseArgsOptionsConfig,
>(
  words: string[],
  names: Names,
  options: Options,
): {
  args: { [Index in keyof Names]: string }
  values: Values<Options>
} {
  const { positionals, values } = parseArgs({ args: words, options, allowPositionals: true })
  const taken = Object.keys(options).find((name) => !(name in values) && isTakenByNpm(name))
  if (taken !== undefined)
    throw new Error(`npm took --${taken} as its own option: write -- before the words`)
  const missing = names[positionals.length]
  if (missing !== undefined) throw new Error(`${missing} is missing${SEE_HELP}`)
  const extra = positionals[names.length]
  if (extra !== undefined) throw new Error(`unexpected word "${extra}"${SEE_HELP}`)
  return { args: positionals as { [Index in keyof Names]: string }, values } // checked above: one for each name
}

/** Returns a word if the list has it. @throws {Error} naming the allowed words */
export function oneOf<Word extends string>(word: string | undefined, words: readonly Word[]): Word {
  const allowed = words.find((candidate) => candidate === word)
  if (allowed === undefined)
    throw new Error(`the first word must be ${words.join(' or ')}${SEE_HELP}`)
  return allowed
}
