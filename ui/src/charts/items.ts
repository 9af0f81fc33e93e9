// Items of a chart: the values of its lines at a point, and single marks near a point. No DOM.

import type { Cell, ChartData, Hue, MarkData, Measure, TableData } from "../blocks/data.ts";
import { written } from "../measure.ts";
import { placeOf, type Plane } from "./draw.ts";

/** Distance in pixels from which an item is out of reach. */
const REACH = 40;
/** Maximum number of rows of a table on demand. */
const MOST_ROWS = 2000;

export interface Item {
  mark: MarkData;
  index: number;
  x: number;
  y: number;
}

export interface Reading {
  hue: Hue;
  name: string;
  text: string;
}

const isLine = (mark: MarkData): boolean => mark.kind === "line" || mark.kind === "steps";
const isItem = (mark: MarkData): boolean => !isLine(mark) && mark.kind !== "spans";

/** Returns the single items with their places, from left to right. */
export function itemsOf(marks: MarkData[], plane: Plane): Item[] {
  const items = marks.filter(isItem).flatMap((mark) =>
    Array.from({ length: length(mark) }, (_, index): Item | null => {
      const place = placeOf(mark, index, plane);
      return place && { mark, index, x: place[0], y: place[1] };
    }),
  );
  const isWithin = (item: Item | null): item is Item => item !== null && item.x >= plane.left - 1 && item.x <= plane.right + 1;
  return items.filter(isWithin).sort((one, other) => one.x - other.x || one.y - other.y);
}

/** Returns the index of the nearest item within reach; -1 if there is none. */
export function nearest(items: Item[], x: number, y: number): number {
  let [best, least] = [-1, REACH * REACH];
  items.forEach((item, index) => {
    const distance = (item.x - x) ** 2 + (item.y - y) ** 2;
    if (distance < least) [best, least] = [index, distance];
  });
  return best;
}

/** Returns the index of the next item above or below. */
export function beyond(items: Item[], from: number, isUp: boolean): number {
  const here = items[from];
  if (!here) return items.length > 0 ? 0 : -1;
  let [best, least] = [from, Infinity];
  items.forEach((item, index) => {
    const rise = isUp ? here.y - item.y : item.y - here.y;
    const distance = rise + 4 * Math.abs(item.x - here.x);
    if (rise > 1 && distance < least) [best, least] = [index, distance];
  });
  return best;
}

/** Describes an item: its name and its value. The text of an interval or a bar says all by itself. */
export function textOf({ mark, index }: Item, chart: ChartData, plane: Plane): string {
  const own = mark.text?.[index];
  const [name = "", ...rest] = own === undefined ? [itemName(mark, index, plane)] : own.split("\n");
  if (own !== undefined && mark.kind !== "points") return own;
  const [value, measure] = valueOf(mark, index, chart);
  const figure = value == null ? "" : `: ${written(value, measure)}`;
  return [name + figure, ...rest].join("\n");
}

function itemName(mark: MarkData, index: number, plane: Plane): string {
  const where = plane.x.text(mark.x?.[index] ?? 0);
  const row = plane.y.axis.scale === "band" ? plane.y.text(mark.y?.[index] ?? 0) : mark.name;
  return row === "" ? where : `${row}, ${where}`;
}

/** Returns the value of an item and its unit: along the axis without bands, or the weight of a cell. */
function valueOf(mark: MarkData, index: number, { x, y }: ChartData): [number | null | undefined, Measure] {
  if (mark.kind === "cells") return [mark.value?.[index], mark.measure ?? "things"];
  return y.scale === "band" ? [mark.x?.[index], x.measure] : [mark.y?.[index], y.measure];
}

/** Returns the places with values of lines, ascending. */
export function placesOf(marks: MarkData[]): number[] {
  const places = new Set(marks.filter(isLine).flatMap((mark) => mark.x ?? []));
  return [...places].filter((at): at is number => at !== null).sort((one, other) => one - other);
}

/** Returns the value of every line at a place; a dash if it has none there. */
export function readings(marks: MarkData[], at: number, chart: ChartData): Reading[] {
  return marks.filter(isLine).map((mark) => {
    const value = mark.y?.[mark.x?.indexOf(at) ?? -1];
    return { hue: mark.hue, name: mark.name, text: value == null ? "–" : written(value, chart.y.measure) };
  });
}

/** Returns the name of a place: that of a line which names its places, or the value of the axis. */
export function placeText(marks: MarkData[], at: number, plane: Plane): string {
  const named = marks.filter((mark) => isLine(mark) && mark.text).map((mark) => mark.text?.[mark.x?.indexOf(at) ?? -1]);
  return named.find((name) => name !== undefined) ?? `at ${plane.x.text(at)}`;
}

/** Returns the names of the spans at a place. */
export function spansAt(marks: MarkData[], at: number): string[] {
  const texts = marks.filter((mark) => mark.kind === "spans").flatMap((mark) => {
    const isInside = (mark.x ?? []).some((from, index) => from !== null && from <= at && at <= (mark.to?.[index] ?? from));
    return isInside && mark.name !== "" ? [mark.name] : [];
  });
  return [...new Set(texts)];
}

/** Returns the chart as a table: a row for each place of its lines, or for each item. */
export function tableOf(chart: ChartData, plane: Plane): TableData {
  const lines = chart.marks.filter(isLine);
  const places = placesOf(lines);
  const where = { name: chart.x.label || chart.x.measure };
  if (lines.length === chart.marks.filter((mark) => mark.kind !== "spans").length) {
    const columns = [where, ...lines.map(({ name }) => ({ name, numeric: true }))];
    const rows = places.map((at) => [{ text: placeText(lines, at, plane).replace(/^at /, "") }, ...readings(lines, at, chart).map(({ text }) => ({ text }))]);
    return cut(chart.title, columns, rows);
  }
  const items = itemsOf(chart.marks, plane);
  const rows = items.map((item): Cell[] => {
    const link = item.mark.link?.[item.index];
    return [{ text: item.mark.name }, { text: textOf(item, chart, plane), ...(link ? { link } : {}) }];
  });
  return cut(chart.title, [{ name: "mark" }, { name: "value" }], rows);
}

function cut(label: string, columns: TableData["columns"], rows: Cell[][]): TableData {
  if (rows.length <= MOST_ROWS) return { label, columns, rows };
  const note = { text: `${rows.length - MOST_ROWS} more rows` };
  return { label, columns, rows: [...rows.slice(0, MOST_ROWS), [note, ...columns.slice(1).map(() => ({}))]] };
}

function length(mark: MarkData): number {
  return Math.max(mark.x?.length ?? 0, mark.y?.length ?? 0);
}
