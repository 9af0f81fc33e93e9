// Positions of the marks of an axis. Arithmetic only.

/** Returns round marks from 0 to at least `most`. */
export function linearMarks(most: number, wanted: number): number[] {
  if (!(most > 0)) return [0, 1];
  const raw = most / wanted;
  const size = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 2.5, 5, 10].map((factor) => factor * size).find((step) => step >= raw * 0.999) ?? raw;
  const marks = [];
  for (let mark = 0; mark < most + step * 0.999; mark += step) marks.push(Number(mark.toPrecision(12)));
  return marks;
}

/** Returns powers of ten that enclose `least` and `most`. */
export function decadeMarks(least: number, most: number): number[] {
  const first = Math.floor(Math.log10(Math.max(least, 1)));
  const last = Math.max(Math.ceil(Math.log10(Math.max(most, 1))), first + 1);
  return Array.from({ length: last - first + 1 }, (_, index) => 10 ** (first + index));
}
