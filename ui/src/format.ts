// Numbers, times and sizes as text for people. No layout, no DOM.

import type { Unit } from "./wire.ts";

const NARROW = "\u202f";
const MINUS = "\u2212";

/** Writes `1234567` as `1,234,567`. */
export function whole(value: number): string {
  // Browsers need some 20 ms for their first Intl.NumberFormat.
  return Math.round(value).toFixed().replace(/\B(?=(\d{3})+$)/g, ",");
}

/** Writes three significant digits, thousands grouped, no exponent. */
export function digits(value: number): string {
  const size = Math.abs(value);
  const text = size >= 100 ? whole(size) : size === 0 ? "0" : size.toFixed(size >= 10 ? 1 : size >= 1 ? 2 : 3);
  return value < 0 ? MINUS + text : text;
}

/** Writes a share (0 to 1) with two decimals. A share above zero never appears as zero. */
export function percent(share: number): string {
  if (share === 0) return `0${NARROW}%`;
  if (share < 0.0001) return `<0.01${NARROW}%`;
  return `${(share * 100).toFixed(share >= 0.9995 ? 0 : share >= 0.1 ? 1 : 2)}${NARROW}%`;
}

/** Writes a change of a share in percentage points, always with its sign. */
export function points(change: number): string {
  return `${signed(change)} points`;
}

/** Writes the same without the unit, for a column with the unit in its head. */
export function signed(change: number): string {
  const size = Math.abs(change * 100);
  const text = size === 0 ? "0" : size < 0.01 ? "<0.01" : size.toFixed(2);
  const sign = change > 0 ? "+" : change < 0 ? MINUS : "±";
  return `${sign}${text}`;
}

const TIMES: [number, string][] = [
  [1e9, "s"],
  [1e6, "ms"],
  [1e3, "µs"],
  [1, "ns"],
];

/** Writes nanoseconds in the largest unit that keeps a whole digit. */
export function nanos(value: number): string {
  const [size, unit] = TIMES.find(([size]) => Math.abs(value) >= size) ?? [1, "ns"];
  return `${digits(value / size)} ${unit}`;
}

/** Writes a weight in the unit of its event. */
export function amount(weight: number, unit: string): string {
  const text = quantity(weight, unit);
  return isMeasured(unit) ? text : `${text} ${unit}`;
}

/** Writes the same without the name of things that are counted, for a column that names them. */
export function quantity(weight: number, unit: string): string {
  return unit === "nanoseconds" ? nanos(weight) : unit === "bytes" ? bytes(weight) : whole(weight);
}

/** Names the weights: `time`, `memory`, or the things that are counted. */
export function nounOf(unit: string): string {
  return unit === "nanoseconds" ? "time" : unit === "bytes" ? "memory" : unit;
}

function isMeasured(unit: string): boolean {
  return unit === "nanoseconds" || unit === "bytes";
}

/** Writes seconds without trailing zeros, to the millisecond. */
export function seconds(value: number): string {
  return String(Number(value.toFixed(3)));
}

/** Writes bytes with binary prefixes. */
export function bytes(value: number): string {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let index = 0;
  while (value >= 1024 && index < units.length - 1) {
    value /= 1024;
    index += 1;
  }
  return `${Number.isInteger(value) ? whole(value) : digits(value)} ${units[index]}`;
}

/** Writes seconds as `30 s` or `2 min 5 s`. */
export function duration(seconds: number): string {
  if (seconds < 120) return `${Number(seconds.toFixed(seconds < 10 ? 1 : 0))} s`;
  const rest = Math.round(seconds % 60);
  return `${Math.floor(seconds / 60)} min${rest > 0 ? ` ${rest} s` : ""}`;
}

/** Writes large counts for an axis: `50k`, `1.5M`. */
export function short(value: number): string {
  const steps: [number, string][] = [
    [1e9, "G"],
    [1e6, "M"],
    [1e3, "k"],
  ];
  const step = steps.find(([size]) => value >= size);
  return step ? `${Number((value / step[0]).toPrecision(3))}${step[1]}` : `${Number(value.toPrecision(3))}`;
}

/** Writes a moment as `2026-11-20 13:05:07 UTC`. */
export function moment(unixNanos: number): string {
  if (unixNanos === 0) return "unknown";
  return `${new Date(unixNanos / 1e6).toISOString().slice(0, 19).replace("T", " ")} UTC`;
}

/** Returns a number and its unit separately, so that the unit can be set smaller. */
export function inUnit(value: number, unit: Unit): [string, string] {
  switch (unit) {
    case "per-second":
      return [whole(value), "/s"];
    case "nanoseconds":
      return split(nanos(value));
    case "bytes":
      return split(bytes(value));
    case "bytes-per-second":
      return split(`${bytes(value)}/s`);
    case "share":
      return split(`${digits(100 * value)} %`);
    case "cores":
      return [digits(value), value === 1 ? "core" : "cores"];
    case "things":
      return [value >= 100 || Number.isInteger(value) ? whole(value) : digits(value), ""];
  }
}

function split(text: string): [string, string] {
  const at = text.indexOf(" ");
  return [text.slice(0, at), text.slice(at + 1)];
}
