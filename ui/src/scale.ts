// The scale of colours of the timeline, and the marks of its axis. Arithmetic only.

import { LONG_STEPS } from "./charts/scale.ts";

const DAY = 86_400;

/** A weight of this many times the usual high one does not stretch the scale. */
const OUTLIER = 4;

/** Returns the weight with the full colour: the greatest that is no outlier. */
export function strongest(steps: number[]): number {
  const busy = steps.filter((weight) => weight > 0).sort((left, right) => left - right);
  const usual = busy[Math.floor(0.95 * (busy.length - 2))] ?? busy[0] ?? 1;
  return busy.filter((weight) => weight <= OUTLIER * usual).pop() ?? usual;
}

/** Returns round seconds from 0 to before `length`, at most `wanted` and one. */
export function secondMarks(length: number, wanted: number): number[] {
  const least = length / wanted;
  const size = 10 ** Math.floor(Math.log10(least));
  const step = Math.max(1, [1, 2, 5, 10].map((factor) => factor * size).find((step) => step >= least) ?? least);
  return Array.from({ length: Math.ceil(length / step) }, (_, at) => at * step);
}

/** Returns round times of the day (UTC) within `length` seconds, as seconds after `started`, and their names. */
export function clockMarks(started: number, length: number, wanted: number): [number, string][] {
  const least = length / wanted;
  const step = LONG_STEPS.find((step) => step >= least) ?? DAY * Math.ceil(least / DAY);
  const first = Math.ceil(started / step) * step;
  const count = Math.max(0, Math.ceil((started + length - first) / step));
  return Array.from({ length: count }, (_, at) => {
    const time = new Date((first + at * step) * 1000).toISOString();
    const isMidnight = time.slice(11, 19) === "00:00:00";
    return [first + at * step - started, isMidnight ? time.slice(5, 10) : time.slice(11, step < 60 ? 19 : 16)];
  });
}
