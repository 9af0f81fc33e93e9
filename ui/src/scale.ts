// The scale of colours of the timeline, and the marks of its axis. Arithmetic only.

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
