// Finds patterns whose time grows faster than the length of the text: one text would keep the whole service busy.
import { createRequire } from 'node:module'

/** How the time of a pattern grows with the length of a text: `linear` also where it is not known to grow faster. */
export type Growth = 'linear' | 'polynomial' | 'exponential'

/** A pattern that repeats nothing without a bound, and no group, takes no long time. */
const REPEATED = /[*+]|,}|\)[{]/
/** Milliseconds for a pattern. One that takes longer has no warning. Half a second is enough, unless the machine is busy. */
const CHECK_TIMEOUT = 10_000

const require = createRequire(import.meta.url)
/** By pattern. Many documents repeat the same ones. */
const results = new Map<string, Growth>()

/** How the time of a pattern grows. One with a look-around or a back-reference is taken for linear. */
export function growthOf({ source, flags }: RegExp): Growth {
  if (!REPEATED.test(source)) return 'linear'
  const result = results.get(source) ?? check(source, flags)
  results.set(source, result)
  return result
}

/** A repetition of at least eight times: within another one, it takes as long as one without a bound. */
const WIDE = /(?<!\\)\{(\d+),([89]|\d{2,})\}/g

/** How the time of a pattern grows, with its bounds, and if it is exponential without them. */
function check(source: string, flags: string): Growth {
  const growth = growthOfSource(source, flags)
  const unbounded = source.replace(WIDE, '{$1,}')
  const isBounded = growth !== 'exponential' && unbounded !== source
  return isBounded && growthOfSource(unbounded, flags) === 'exponential' ? 'exponential' : growth
}

/** Loads the checker only here: it takes as long as the rest of a small compilation. */
function growthOfSource(source: string, flags: string): Growth {
  const { checkSync } = require('recheck/lib/browser.js') as typeof import('recheck')
  const result = checkSync(source, flags, { checker: 'automaton', timeout: CHECK_TIMEOUT })
  if (result.status !== 'vulnerable') return 'linear'
  return result.complexity.type === 'exponential' ? 'exponential' : 'polynomial'
}
