// Marks as SVG. Coordinates are pixels of the chart's picture. A mark is few elements, however many items it has.

import { s } from "../dom.ts";
import type { MarkData } from "../blocks/data.ts";
import { type Scale, thinned } from "./scale.ts";

/** Steps of the colour scale of cells. */
export const SHADES = 10;
const RADIUS = 4;
const BAR = 4;
const STRIP = 5;

export interface Plane {
  x: Scale;
  y: Scale;
  left: number;
  right: number;
  top: number;
  bottom: number;
  /** Largest value of all cells. */
  most: number;
}

type Draw = (mark: MarkData, plane: Plane) => SVGElement[];

const DRAW: Record<MarkData["kind"], Draw> = { line, steps, points, intervals, bars, cells, spans: bands };

export function drawMark(mark: MarkData, plane: Plane): SVGElement {
  return s("g", { class: `mark-${mark.kind}`, "data-hue": mark.hue }, ...DRAW[mark.kind](mark, plane));
}

/** Returns the place of an item; absent if it lacks a value. */
export function placeOf(mark: MarkData, index: number, plane: Plane): [number, number] | null {
  const x = mark.x?.[index];
  const [low, high] = [mark.low?.[index], mark.high?.[index]];
  const isCell = mark.kind === "cells";
  const between = plane.y.axis.scale !== "band" && low != null && high != null ? (low + high) / 2 : null;
  const y = mark.y?.[index] ?? between;
  const along = x ?? (low != null && high != null ? (low + high) / 2 : null);
  if (along == null || y == null) return null;
  const end = isCell ? (mark.to?.[index] ?? along) : along;
  return [plane.x.place((along + end) / 2), plane.y.place(y)];
}

function line(mark: MarkData, { x, y, left, right }: Plane): SVGElement[] {
  const values = mark.y ?? [];
  let d = "";
  let pen = "M";
  const kept = thinned(mark.x ?? [], values, x, right - left);
  kept.forEach((index, at) => {
    const value = values[index];
    const where = mark.x?.[index];
    if (value == null || where == null) {
      pen = "M";
      return;
    }
    d += `${pen}${x.place(where).toFixed(1)},${y.place(value).toFixed(1)}`;
    // A value without neighbours is a dot.
    if (pen === "M" && values[kept[at + 1] ?? -1] == null) d += "h0.01";
    pen = "L";
  });
  return [s("path", { class: "line", d })];
}

/** Draws each value until the next one, and the last until the end. */
function steps(mark: MarkData, { x, y, right }: Plane): SVGElement[] {
  let d = "";
  let isDown = false;
  (mark.y ?? []).forEach((value, index) => {
    const from = mark.x?.[index];
    if (value == null || from == null) {
      isDown = false;
      return;
    }
    const [left, top] = [x.place(from).toFixed(1), y.place(value).toFixed(1)];
    const next = mark.x?.[index + 1];
    d += `${isDown ? `V${top}` : `M${left},${top}`}H${(next == null ? right : x.place(next)).toFixed(1)}`;
    isDown = true;
  });
  return [s("path", { class: "line", d })];
}

function points(mark: MarkData, plane: Plane): SVGElement[] {
  const paths = { point: "", hollow: "" };
  (mark.x ?? []).forEach((_, index) => {
    const place = placeOf(mark, index, plane);
    if (place) paths[mark.hollow?.[index] ? "hollow" : "point"] += circle(place[0], place[1], RADIUS);
  });
  return present(paths);
}

function circle(x: number, y: number, radius: number): string {
  const across = 2 * radius;
  return `M${(x - radius).toFixed(1)},${y.toFixed(1)}a${radius},${radius} 0 1 0 ${across},0a${radius},${radius} 0 1 0 ${-across},0z`;
}

/** Draws bars between both ends, along the axis without bands, and a diamond for each estimate. */
function intervals(mark: MarkData, plane: Plane): SVGElement[] {
  const { x, y } = plane;
  const isAcross = y.axis.scale === "band";
  const paths = { interval: "", estimate: "" };
  (mark.low ?? []).forEach((low, index) => {
    const high = mark.high?.[index];
    const at = isAcross ? mark.y?.[index] : mark.x?.[index];
    if (low != null && high != null && at != null) {
      paths.interval += isAcross
        ? `M${x.place(low).toFixed(1)},${y.place(at).toFixed(1)}H${x.place(high).toFixed(1)}`
        : `M${x.place(at).toFixed(1)},${y.place(low).toFixed(1)}V${Math.min(y.place(high), y.place(low) - 3).toFixed(1)}`;
    }
    const estimate = isAcross ? mark.x?.[index] : mark.y?.[index];
    if (estimate == null || at == null) return;
    const [left, top] = isAcross ? [x.place(estimate), y.place(at)] : [x.place(at), y.place(estimate)];
    paths.estimate += `M${left.toFixed(1)},${(top - 7).toFixed(1)}l7,7l-7,7l-7,-7z`;
  });
  return present(paths);
}

function bars(mark: MarkData, { x, y, bottom }: Plane): SVGElement[] {
  let bar = "";
  (mark.y ?? []).forEach((value, index) => {
    const at = mark.x?.[index];
    if (value == null || at == null) return;
    const base = mark.low?.[index];
    const foot = base == null ? bottom : y.place(base);
    bar += `M${(x.place(at) - BAR / 2).toFixed(1)},${foot.toFixed(1)}h${BAR}V${y.place(value).toFixed(1)}h${-BAR}z`;
  });
  return present({ bar });
}

function cells(mark: MarkData, { x, y, most }: Plane): SVGElement[] {
  const paths = Array.from({ length: SHADES }, () => "");
  const tall = Math.abs(y.place(1) - y.place(0)) - 1;
  (mark.x ?? []).forEach((from, index) => {
    const row = mark.y?.[index];
    if (from == null || row == null) return;
    const left = x.place(from);
    const wide = Math.max(x.place(mark.to?.[index] ?? from) - left, 0.5).toFixed(2);
    const shade = shadeOf(mark.value?.[index] ?? 0, most);
    paths[shade] += `M${left.toFixed(2)},${(y.place(row) - tall / 2).toFixed(1)}h${wide}v${tall.toFixed(1)}h-${wide}z`;
  });
  return paths.map((d, shade) => (d ? s("path", { class: "cell", "data-shade": shade, d }) : null)).filter((path) => path !== null);
}

/** Returns the value of the deepest shade of a mark. */
export function mostOf(mark: MarkData): number {
  if (mark.kind !== "cells") return 0;
  return mark.most ?? (mark.value ?? []).reduce((most, value) => Math.max(most, value), 0);
}

/** Returns the step of the scale from nothing to `most`. */
export function shadeOf(value: number, most: number): number {
  if (!(value > 0) || !(most > 0)) return 0;
  return Math.min(Math.floor((value / most) * SHADES * (1 + 1e-9)), SHADES - 1);
}

/** Draws spans behind the lines. */
function bands(mark: MarkData, { x, top, bottom }: Plane): SVGElement[] {
  return (mark.x ?? []).flatMap((from, index) => {
    if (from == null) return [];
    const left = x.place(from);
    const width = x.place(mark.to?.[index] ?? from) - left;
    // A span without length is a moment.
    const shape = width === 0 ? { class: "span-edge", width: 1.5 } : { class: "span-band", width: Math.max(width, 1) };
    return [s("rect", { ...shape, x: left, y: top, height: bottom - top }, s("title", {}, mark.text?.[index] ?? mark.name))];
  });
}

/** Draws the strips of named spans above the plane, one row for each name. */
export function strips(marks: MarkData[], plane: Plane): SVGElement[] {
  return marks.flatMap((mark, row) =>
    (mark.x ?? []).flatMap((from, index) => {
      if (from == null || !plane.x.has(from)) return [];
      const left = plane.x.place(from);
      const width = Math.max(Math.min(plane.x.place(mark.to?.[index] ?? from), plane.right) - left, 1);
      const y = plane.top - (row + 1) * (STRIP + 1);
      return [s("rect", { class: "span-strip", "data-hue": mark.hue, x: left, y, width, height: STRIP }, s("title", {}, mark.text?.[index] ?? mark.name))];
    }),
  );
}

function present(paths: Record<string, string>): SVGElement[] {
  return Object.entries(paths).flatMap(([name, d]) => (d ? [s("path", { class: name, d })] : []));
}
