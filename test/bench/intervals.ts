/** A range that holds the true figure, and the estimate in its middle. */
export interface Interval {
  readonly low: number
  readonly middle: number
  readonly high: number
}

/**
 * Estimates the median of samples whose noise is symmetric; it need not be normal. By Wilcoxon's signed ranks: Hollander
 * and Wolfe, Nonparametric Statistical Methods, section 3.3.
 * @param risk the probability that the median is below the interval. It is above with the same probability
 */
export function estimate(samples: readonly number[], risk: number): Interval {
  const averages = samples.flatMap((one, index) => samples.slice(index).map((other) => (one + other) / 2))
  averages.sort((one, two) => one - two)
  const ways = rankSums(samples.length)
  let outside = 0
  for (let share = 0; (share += (ways[outside] ?? 0) / 2 ** samples.length) <= risk;) outside += 1
  const at = (index: number) => averages[index] ?? NaN
  return {
    low: outside === 0 ? -Infinity : at(outside - 1),
    middle: at(Math.floor(averages.length / 2)),
    high: outside === 0 ? Infinity : at(averages.length - outside),
  }
}

/** For each sum, how many sets of the ranks from 1 to `count` have it. */
function rankSums(count: number): number[] {
  let ways = [1]
  for (let rank = 1; rank <= count; rank++) {
    const before = ways
    ways = Array.from({ length: before.length + rank }, (_, sum) => (before[sum] ?? 0) + (before[sum - rank] ?? 0))
  }
  return ways
}
