// Test whether a change of a share exceeds the noise of sampling. The rule is that of crates/analysis
// `diff/noise.rs`, and its figures come with the data. Graphs and spans that a reader draws need the rule here.

import type { Noise } from "../wire.ts";

/** One figure of both sides of a comparison. */
export type Pair = [number, number];

/** Returns the sentence of the terminal for a comparison in which nothing is beyond noise. */
export function noChange(noise: Noise): string {
  const than = noise.runs ? "these runs differ by among themselves" : "the noise of sampling";
  return `No function changed by more than ${than}.`;
}

/** Names the noise that covers an insignificant change. */
export function withinNoise(noise: Noise): string {
  return noise.runs ? "within the noise between runs" : "within the noise of sampling";
}

/** Tests one of `comparisons` comparisons; `part` and `all` are weights. */
export function isBeyondNoise(part: Pair, all: Pair, noise: Noise, comparisons: number): boolean {
  const counted = (weights: Pair): Pair => weights.map((weight, side) => Math.round(weight * noise.counts[side])) as Pair;
  const exposed = all.map((weight) => weight * (noise.exposure ?? 1)) as Pair;
  return probability(counted(part), counted(exposed)) < noise.rate / Math.max(1, comparisons);
}

/** Fisher's exact test: the probability that equal shares differ this much (twice the smaller tail). */
export function probability(part: Pair, all: Pair): number {
  const [marked, whole] = [part[0] + part[1], all[0] + all[1]];
  const expected = (marked * all[0]) / whole;
  const variance = expected * (1 - marked / whole) * (all[1] / whole);
  // Within two standard deviations a change is never significant; most comparisons end here.
  if (marked <= 0 || marked >= whole || (part[0] - expected) ** 2 < 4 * variance) return 1;
  const isMore = part[0] > expected;
  return Math.min(1, 2 * (isMore ? upperTail(part, all) : upperTail([part[1], part[0]], [all[1], all[0]])));
}

/**
 * Returns the probability of `part[0]` or more marked ones on the first side (hypergeometric distribution).
 */
function upperTail(part: Pair, all: Pair): number {
  let [first, second] = part;
  const log = lnChoose(all[0], first) + lnChoose(all[1], second) - lnChoose(all[0] + all[1], first + second);
  let [term, sum] = [1, 1];
  while (second > 0 && first < all[0] && term > sum * 1e-16) {
    term *= ((all[0] - first) * second) / ((first + 1) * (all[1] - second + 1));
    sum += term;
    first += 1;
    second -= 1;
  }
  return Math.exp(log) * sum;
}

function lnChoose(all: number, part: number): number {
  return lnFactorial(all) - lnFactorial(part) - lnFactorial(all - part);
}

/** Computes Stirling's series, for an argument raised until the series is exact enough. */
function lnFactorial(number: number): number {
  let argument = number + 1;
  let product = 1;
  for (; argument < 10; argument += 1) product *= argument;
  const inverse = 1 / argument;
  const series = inverse * (1 / 12 - inverse * inverse * (1 / 360));
  return (argument - 0.5) * Math.log(argument) - argument + 0.5 * Math.log(2 * Math.PI) + series - Math.log(product);
}
