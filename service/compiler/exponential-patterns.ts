// Finds patterns that take exponential time: one short text would keep the whole service busy.
import { createRequire } from 'node:module'

/** Without a group that is repeated, no pattern is exponential. */
const REPEATED_GROUP = /\)[*+{]/
/** Milliseconds for a pattern. One that takes longer has no note. */
const CHECK_TIMEOUT = 1000

const require = createRequire(import.meta.url)
/** By pattern. Many documents repeat the same ones. */
const results = new Map<string, boolean>()

/** Whether a pattern takes exponential time for some texts. One with a look-around or a back-reference is not known to. */
export function isExponential({ source, flags }: RegExp): boolean {
  if (!REPEATED_GROUP.test(source)) return false
  const result = results.get(source) ?? check(source, flags)
  results.set(source, result)
  return result
}

/** Loads the checker only here: it takes as long as the rest of a small compilation. */
function check(source: string, flags: string): boolean {
  const { checkSync } = require('recheck/lib/browser.js') as typeof import('recheck')
  const result = checkSync(source, flags, { checker: 'automaton', timeout: CHECK_TIMEOUT })
  return result.status === 'vulnerable' && result.complexity.type === 'exponential'
}
