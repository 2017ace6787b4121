// What the commands share: how each one reads its words, prints its usage and reports an error.
import { diff, parseArgs, type ParseArgsOptionsConfig } from 'node:util'
import { npmOption } from './config.ts'
import { reasonOf } from './errors.ts'

/** The most characters to insert or delete in a word that is suggested for another one. */
const MAX_CHANGES = 2
const SEE_HELP = ' (--help prints the usage)'

/**
 * Runs a command. `--help` prints the usage. An error becomes one line on standard error, and the exit code 1.
 * @param main gets the words of the command line
 */
export async function runCommand(usage: string, main: (words: string[]) => Promise<void>): Promise<void> {
  const words = process.argv.slice(2)
  try {
    if (words.includes('--help') || words.includes('-h')) console.log(usage)
    else await main(words)
  } catch (error) {
    console.error(reasonOf(error).replaceAll(/\s*\n\s*/g, ' '))
    process.exitCode = 1
  }
}

/**
 * Reads the words of a command.
 * @param names what its arguments are called; all of them must be there, and no others
 * @param options as `util.parseArgs` takes them
 * @returns the arguments in the order of their names, and the values of the options
 * @throws {Error} naming the word that is wrong
 */
export function readWords<const Names extends readonly string[], Options extends ParseArgsOptionsConfig>(
  words: string[],
  names: Names,
  options: Options,
) {
  const { positionals, values } = parse(words, options)
  const taken = Object.keys(options).find((name) => !(name in values) && npmOption(name) !== undefined)
  if (taken !== undefined) throw new Error(`npm took --${taken} as its own option: write -- before the words`)
  const missing = names[positionals.length]
  if (missing !== undefined) throw new Error(`${missing} is missing${SEE_HELP}`)
  const extra = positionals[names.length]
  if (extra !== undefined) throw new Error(`unexpected word "${extra}"${SEE_HELP}`)
  return { args: positionals as { [Index in keyof Names]: string }, values } // as many as there are names
}

/** The word, if it is one of these. @throws {Error} naming it and, where there is one, a word that is near */
export function oneOf<Word extends string>(word: string | undefined, words: readonly Word[]): Word {
  if (word === undefined) throw new Error(`a word is missing: ${words.join(' or ')}${SEE_HELP}`)
  return words.find((each) => each === word) ?? unknown(word, words)
}

function parse<Options extends ParseArgsOptionsConfig>(args: string[], options: Options) {
  try {
    return parseArgs({ args, options, allowPositionals: true })
  } catch (error) {
    const [, option] = /^Unknown option '([^']+)'/.exec(reasonOf(error)) ?? []
    if (option === undefined) throw error
    const known = Object.keys(options).map((name) => `--${name}`)
    return unknown(option, known)
  }
}

function unknown(word: string, known: readonly string[]): never {
  const near = known.find((each) => diff(each, word).filter(([change]) => change !== 0).length <= MAX_CHANGES)
  throw new Error(`${word} is unknown${near === undefined ? SEE_HELP : `; did you mean ${near}?`}`)
}
