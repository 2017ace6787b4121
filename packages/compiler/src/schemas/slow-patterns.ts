// Finds patterns slower than linear time: one long string would keep the whole service busy.
import { createRequire } from 'node:module'

/** How the time of a pattern grows with the length of a string. Unknown growth counts as `linear`. */
export type Growth = 'linear' | 'polynomial' | 'exponential'

/** Without an unbounded repetition or a repeated group, a pattern is always fast. */
const REPEATED = /[*+]|,}|\)[{]/
/** In milliseconds, for one pattern; after a timeout there is no warning. Half a second suffices on an idle machine. */
const CHECK_TIMEOUT = 10_000

const require = createRequire(import.meta.url)
/** By pattern: many documents repeat theirs. */
const results = new Map<string, Growth>()

/** Finds the growth of a pattern. Look-around and back-references count as linear. */
export function growthOf({ source, flags }: RegExp): Growth {
  if (!REPEATED.test(source)) return 'linear'
  const result = results.get(source) ?? check(source, flags)
  results.set(source, result)
  return result
}

/** A repetition of at least eight times: nested in another one, it is as slow as an unbounded one. */
const WIDE = /(?<!\\)\{(\d+),([89]|\d{2,})\}/g

/** Checks a pattern, then once more with its wide repetitions unbounded: bounds hide exponential time from the checker. */
function check(source: string, flags: string): Growth {
  const growth = growthOfSource(source, flags)
  const unbounded = source.replace(WIDE, '{$1,}')
  const isBounded = growth !== 'exponential' && unbounded !== source
  return isBounded && growthOfSource(unbounded, flags) === 'exponential' ? 'exponential' : growth
}

/** Loads the checker only when needed: this takes as long as the rest of a small compilation. */
function growthOfSource(source: string, flags: string): Growth {
  const { checkSync } = require('recheck/lib/browser.js') as typeof import('recheck')
  const result = checkSync(source, flags, { checker: 'automaton', timeout: CHECK_TIMEOUT })
  if (result.status !== 'vulnerable') return 'linear'
  return result.complexity.type === 'exponential' ? 'exponential' : 'polynomial'
}
