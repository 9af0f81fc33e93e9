// The one formatter of values in a unit: as figures, and as marks of an axis.

import type { Measure } from "./blocks/data.ts";
import { digits, duration, inUnit, moment, short } from "./format.ts";

const TIMES: [number, string][] = [[3600e9, "h"], [60e9, "min"], [1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]];
const BYTES: [number, string][] = [[2 ** 40, "TiB"], [2 ** 30, "GiB"], [2 ** 20, "MiB"], [2 ** 10, "KiB"], [1, "B"]];

/** Writes a value with three digits and its unit. */
export function written(value: number, measure: Measure): string {
  if (measure === "moment") return moment(value);
  if (measure === "change") return change(value);
  if (measure === "nanoseconds" && value >= 120e9) return duration(value / 1e9);
  const [text, unit] = inUnit(value, measure);
  return unit === "" || unit.startsWith("/") ? text + unit : `${text} ${unit}`;
}

/** Writes a ratio as `+5 %` or `×3`. */
function change(ratio: number): string {
  if (ratio < 0.5 || ratio >= 2) return `×${digits(ratio)}`;
  const percent = Number((100 * (ratio - 1)).toFixed(1));
  return `${percent > 0 ? "+" : percent < 0 ? "\u2212" : ""}${Math.abs(percent)} %`;
}

/** Writes a mark of an axis whose largest value is `most`: all marks of a linear axis have the same unit. */
export function tick(value: number, measure: Measure, most: number): string {
  switch (measure) {
    case "nanoseconds":
      return value === 0 ? "0" : inUnitOf(value, most, TIMES, 1.5);
    case "bytes":
    case "bytes-per-second":
      return value === 0 ? "0" : inUnitOf(value, most, BYTES, 1) + (measure === "bytes" ? "" : "/s");
    case "per-second":
      return value === 0 ? "0" : `${short(value)}/s`;
    case "share":
      return `${short(100 * value)} %`;
    case "cores":
    case "things":
      return short(value);
    default:
      return written(value, measure);
  }
}

function inUnitOf(value: number, most: number, units: [number, string][], least: number): string {
  const [size, unit] = units.find(([size]) => most >= least * size) ?? (units[units.length - 1] as [number, string]);
  return `${Number((value / size).toPrecision(6)).toLocaleString("en-US", { maximumFractionDigits: 6 })} ${unit}`;
}

/** Writes a value of an axis like its marks, with two more decimals. */
export function place(value: number, measure: Measure, most: number): string {
  if (measure !== "nanoseconds") return written(value, measure);
  if (most >= 90e9) return value < 120e9 ? `${Number((value / 1e9).toFixed(1))} s` : duration(value / 1e9);
  const [size, unit] = TIMES.find(([size]) => most >= 1.5 * size) ?? [1, "ns"];
  return `${Number((value / size).toFixed(3)).toLocaleString("en-US", { maximumFractionDigits: 3 })} ${unit}`;
}
