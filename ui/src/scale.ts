// The scale of colours of the timeline. Arithmetic only.

/** A weight of this many times the usual high one does not stretch the scale. */
const OUTLIER = 4;

/** Returns the weight with the full colour: the greatest that is no outlier. */
export function strongest(steps: number[]): number {
  const busy = steps.filter((weight) => weight > 0).sort((left, right) => left - right);
  const usual = busy[Math.floor(0.95 * (busy.length - 2))] ?? busy[0] ?? 1;
  return busy.filter((weight) => weight <= OUTLIER * usual).pop() ?? usual;
}
