// The place of a chart's marks, and its axes.

import { s } from "../dom.ts";
import type { ChartData, Columns, MarkData } from "../blocks/data.ts";
import { mostOf, type Plane } from "./draw.ts";
import { Scale, type Span } from "./scale.ts";

const HEIGHT = 200;
const ALONE = 300;
/** Heights of a band: of cells, and of others. */
const CELL_ROW = 17;
const ROW = 56;
const CHARACTER = 6.6;
/** Pixels at the right of the plane. */
const MARGIN = 14;

interface Room {
  width: number;
  isAlone: boolean;
  /** Rows of strips above the plane. */
  strips: number;
  /** The part of the horizontal axis; null for the whole. */
  span: Span | null;
}

/** Makes room for the marks of the axes and the visible marks. */
export function planeOf({ x, y }: ChartData, marks: MarkData[], room: Room): Plane {
  const isBand = y.scale === "band";
  const rows = y.names?.length ?? 0;
  const top = (y.label ? 20 : 8) + room.strips * 6;
  const row = marks.some((mark) => mark.kind === "cells") ? CELL_ROW : ROW;
  const tall = isBand ? rows * row : (room.isAlone ? ALONE : HEIGHT) - top - 40;
  const bottom = top + tall;
  const columns = (names: (keyof Columns)[]): number[] =>
    marks.filter((mark) => mark.kind !== "spans").flatMap((mark) => names.flatMap((name) => (mark[name] ?? []) as number[]).filter((value) => value !== null));
  const vertical = new Scale(y, columns(isBand ? [] : ["y", "low", "high"]), isBand ? top : bottom, isBand ? bottom : top);
  const widest = vertical.marks(5).reduce((most, [, name]) => Math.max(most, name.length), 3);
  const left = Math.min(widest * CHARACTER + 12, Math.max(room.width * 0.3, 60));
  const right = room.width - MARGIN;
  const horizontal = new Scale(x, columns(isBand ? ["x", "low", "high", "to"] : ["x"]), left, right, room.span);
  const most = marks.reduce((most, mark) => Math.max(most, mostOf(mark)), 0);
  return { x: horizontal, y: vertical, left, right, top, bottom, most };
}

/** Draws the marks of both axes with their names. */
export function axes(chart: ChartData, { x, y, left, right, top, bottom }: Plane): SVGElement[] {
  const room = Math.floor((left - 8) / CHARACTER);
  const cut = (name: string): string => (name.length <= room ? name : `${name.slice(0, room - 1)}…`);
  const isBand = chart.y.scale === "band";
  const rows = y.marks(isBand ? 0 : 5).flatMap(([mark, name]) => [
    isBand ? null : s("line", { class: "grid", x1: left, x2: right, y1: y.place(mark), y2: y.place(mark) }),
    s("text", { class: "mark value", x: left - 7, y: y.place(mark) + 4 }, s("title", {}, name), cut(name)),
  ]);
  let free = -Infinity;
  const columns = x.marks(Math.max((right - left) / 90, 2)).flatMap(([mark, name]) => {
    const half = (name.length * CHARACTER) / 2;
    const middle = Math.min(x.place(mark), right + MARGIN - half);
    // Names that would overlap are left out.
    if (middle - half < free) return [];
    free = middle + half + 8;
    return [
      s("line", { class: "grid", x1: x.place(mark), x2: x.place(mark), y1: top, y2: bottom }),
      s("text", { class: "mark time", x: middle, y: bottom + 16 }, name),
    ];
  });
  const labels = [
    chart.y.label ? s("text", { class: "mark", x: 0, y: 12 }, chart.y.label) : null,
    chart.x.label ? s("text", { class: "mark value", x: right, y: bottom + 32 }, chart.x.label) : null,
  ];
  return [...rows, ...columns, ...labels].filter((element) => element !== null);
}
