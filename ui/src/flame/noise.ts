// Whether a change of a share is larger than the noise of sampling: the rule of crates/analysis `diff.rs`,
// whose figures come with the data. For spans that a reader draws it has to be applied here.

import type { Noise } from "../wire.ts";

/** One figure of both sides of a comparison. */
export type Pair = [number, number];

/** `part` and `all` are weights. */
export function isBeyondNoise(part: Pair, all: Pair, noise: Noise): boolean {
  const counts = all.map((weight, side) => weight * (noise.counts[side] as number)) as Pair;
  const shares = part.map((weight, side) => weight / (all[side] as number)) as Pair;
  const pooled = (shares[0] * counts[0] + shares[1] * counts[1]) / (counts[0] + counts[1]);
  const error = Math.sqrt(pooled * (1 - pooled) * (1 / counts[0] + 1 / counts[1]));
  return error > 0 && Math.abs(shares[1] - shares[0]) >= noise.errors * error;
}

export const WITHIN_NOISE = "within the noise of sampling";
