// The figure by which two sides are compared: shares of their weight, or costs per message.

import { amount, digits, percent, points } from "../format.ts";
import type { CostOfMessages, Noise } from "../wire.ts";
import type { Pair } from "./noise.ts";

export interface Measure {
  /** Weights of both sides that are 1 of the figure. */
  totals: Pair;
  noise: Noise;
  /** Writes a figure, and a change of it. */
  write(figure: number): string;
  change(figure: number): string;
  /** Names the figure in the head of a column. */
  name: string;
}

export function byShare(totals: Pair, noise: Noise): Measure {
  return { totals, noise, write: percent, change: points, name: "share" };
}

/**
 * Compares costs per message: 1 is the whole cost of the first side. Messages bear independent costs, so that noise is
 * that of two rates: of exposures far greater than the samples.
 */
export function byCost([before]: Pair, noise: Noise, cost: CostOfMessages): Measure {
  const [first, second] = cost["per-weight"];
  const whole = before * first;
  const write = (figure: number): string => costText(figure * whole, cost.unit);
  const change = (figure: number): string => `${figure > 0 ? "+" : figure < 0 ? "−" : "±"}${write(Math.abs(figure))}`;
  const exposure = 1000 * Math.max(1, second / first);
  return { totals: [before, (before * first) / second], noise: { ...noise, exposure }, write, change, name: "cost per message" };
}

function costText(cost: number, unit: string): string {
  return unit === "nanoseconds" || unit === "bytes" ? amount(cost, unit) : digits(cost);
}
