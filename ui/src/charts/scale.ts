// Places of values on an axis, and its marks. Arithmetic only.

import type { AxisData, Measure } from "../blocks/data.ts";
import { place, tick } from "../measure.ts";

/** Room at both ends of an axis, as a part of its length. */
const ROOM = 0.06;
const SECOND = 1e9;
/** Steps between the marks of longer times, in seconds. */
export const LONG_STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 28800, 86400];

export type Span = [number, number];

export class Scale {
  readonly low: number;
  readonly high: number;
  private readonly isLog: boolean;

  /** Covers `values`, or exactly `span`. `start` and `end` are places. */
  constructor(
    readonly axis: AxisData,
    values: number[],
    private readonly start: number,
    private readonly end: number,
    span: Span | null = null,
  ) {
    this.isLog = axis.scale === "log";
    [this.low, this.high] = span ?? ends(axis, values);
  }

  place(value: number): number {
    // Far places would exceed the numbers of a picture.
    const share = Math.min(Math.max(this.share(value), -2), 3);
    return this.start + share * (this.end - this.start);
  }

  /** Returns the value at a place. */
  value(place: number): number {
    const share = Math.min(Math.max((place - this.start) / (this.end - this.start), 0), 1);
    if (this.isLog) return this.low * (this.high / this.low) ** share;
    return this.low + share * (this.high - this.low);
  }

  has(value: number): boolean {
    const share = this.share(value);
    return share >= -1e-9 && share <= 1 + 1e-9;
  }

  /** Writes a value of the axis. */
  text(value: number): string {
    const named = this.axis.names?.find(([at]) => at === value);
    return named?.[1] ?? place(value, this.axis.measure, this.high);
  }

  /** Returns about `wanted` marks with their names. */
  marks(wanted: number): [number, string][] {
    const { names, measure } = this.axis;
    if (names) return names.filter(([at]) => this.has(at));
    // A mark of a logarithmic axis has its own unit, from 1 on.
    const most = (value: number): number => (this.isLog ? 1.5 * value : this.high);
    return this.values(wanted).map((value) => [value, tick(value, measure, most(value))]);
  }

  private share(value: number): number {
    if (!this.isLog) return (value - this.low) / (this.high - this.low);
    return Math.log(Math.max(value, this.low * 1e-3) / this.low) / Math.log(this.high / this.low);
  }

  private values(wanted: number): number[] {
    const ratio = this.isLog ? this.high / this.low : 1;
    if (ratio > 20) return decades(this.low, this.high, ratio > 1000 ? [1] : [1, 2, 5]);
    return multiples(stepOf((this.high - this.low) / wanted, this.axis.measure), this.low, this.high);
  }
}

function ends(axis: AxisData, values: number[]): Span {
  if (axis.scale === "band") return [-0.5, Math.max((axis.names?.length ?? 0) - 0.5, 0.5)];
  const isLog = axis.scale === "log";
  let [least, most] = [Infinity, -Infinity];
  for (const value of values) {
    if (!Number.isFinite(value) || (isLog && value <= 0)) continue;
    least = Math.min(least, value);
    most = Math.max(most, value);
  }
  const one = axis.measure === "nanoseconds" ? SECOND : 1;
  if (least > most) [least, most] = isLog ? [1, 10] : [axis.from ?? 0, (axis.from ?? 0) + one];
  if (isLog) {
    const room = Math.max((most / least) ** ROOM, 1.001);
    return [axis.from ?? least / room, axis.to ?? most * room];
  }
  const room = Math.max((most - (axis.from ?? least)) * ROOM, Math.abs(most) * 1e-3, 1e-12);
  const low = axis.from ?? least - room;
  const high = axis.to ?? Math.max(most + room, axis.from === most ? most + (axis.measure === "share" ? 0.01 : 1) : -Infinity);
  return [low, high > low ? high : low + Math.max(Math.abs(low) * 1e-9, 1)];
}

/** Returns a readable step that is at least `rough`. */
function stepOf(rough: number, measure: Measure): number {
  if (measure === "bytes") return 2 ** Math.max(Math.ceil(Math.log2(rough)), 0);
  const long = LONG_STEPS.find((step) => step * SECOND >= rough * 0.999);
  if (measure === "nanoseconds" && rough > SECOND && long) return long * SECOND;
  const power = 10 ** Math.floor(Math.log10(rough));
  return power * ([1, 2, 5, 10].find((factor) => factor * power >= rough * 0.999) ?? 10);
}

function multiples(step: number, low: number, high: number): number[] {
  const marks: number[] = [];
  for (let at = Math.ceil(low / step - 1e-9); at * step <= high * (1 + 1e-12) && marks.length < 40; at += 1) {
    marks.push(Number((at * step).toPrecision(12)));
  }
  return marks;
}

function decades(low: number, high: number, factors: number[]): number[] {
  const first = Math.floor(Math.log10(low));
  const powers = Array.from({ length: Math.min(Math.ceil(Math.log10(high)) - first + 1, 40) }, (_, at) => 10 ** (first + at));
  return powers.flatMap((power) => factors.map((factor) => factor * power)).filter((mark) => mark >= low && mark <= high);
}

/**
 * Returns the indices that a line of `width` pixels needs: in each pixel the least and the greatest value. Gaps stay.
 */
export function thinned(x: (number | null)[], y: (number | null)[], scale: Scale, width: number): number[] {
  if (y.length <= 2 * width) return y.map((_, index) => index);
  const kept: number[] = [];
  let [pixel, least, most] = [NaN, -1, -1];
  const flush = (): void => {
    if (least >= 0) kept.push(...(least === most ? [least] : [Math.min(least, most), Math.max(least, most)]));
    [least, most] = [-1, -1];
  };
  y.forEach((value, index) => {
    const here = Math.round(scale.place(x[index] ?? NaN));
    if (value === null || here !== pixel) flush();
    pixel = here;
    if (value === null) {
      if (kept.length > 0 && y[kept[kept.length - 1] as number] !== null) kept.push(index);
      return;
    }
    if (least < 0 || value < (y[least] as number)) least = index;
    if (most < 0 || value > (y[most] as number)) most = index;
  });
  flush();
  return kept;
}
