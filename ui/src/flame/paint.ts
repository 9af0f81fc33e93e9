// Drawing of rows on the canvas: rectangles, names, highlights. No events.

import type { FrameKind } from "../wire.ts";
import { functionStart } from "./label.ts";
import type { Row } from "./layout.ts";
import { CHANGE_STEPS, type Palette } from "./palette.ts";

export const ROW_HEIGHT = 19;
const FONT = "12px system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif";
const PADDING = 5;
const NARROWEST_NAMED = 26;

/** The look of a node. */
export interface Look {
  label: string;
  /** Absent for the node that stands for everything. */
  kind: FrameKind | null;
  shade: number;
  /** Colour of the change in a comparison, instead of kind and shade. */
  change: number | null;
  match: boolean;
}

export interface Picture {
  rows: Row[];
  /** Index of the first row that the zoomed node does not fill. */
  zoomedDepth: number;
  rootAtBottom: boolean;
  scrollTop: number;
  width: number;
  height: number;
  cursor: number;
  searching: boolean;
  palette: Palette;
  look: (node: number) => Look;
}

/** Returns the top of a row in the whole picture, which is as high as its rows or as the box around it. */
export function rowTop(index: number, rows: number, rootAtBottom: boolean, boxHeight: number): number {
  const height = Math.max(rows * ROW_HEIGHT, boxHeight);
  return rootAtBottom ? height - (index + 1) * ROW_HEIGHT : index * ROW_HEIGHT;
}

/** Returns the row at a height of the whole picture; there may be none. */
export function rowAt(y: number, rows: number, rootAtBottom: boolean, boxHeight: number): number {
  const height = Math.max(rows * ROW_HEIGHT, boxHeight);
  return Math.floor((rootAtBottom ? height - y : y) / ROW_HEIGHT);
}

/** Draws the visible rows. */
export function paint(canvas: HTMLCanvasElement, picture: Picture): void {
  const context = prepare(canvas, picture);
  const { rows, rootAtBottom, scrollTop, height } = picture;
  rows.forEach((row, index) => {
    const top = rowTop(index, rows.length, rootAtBottom, height) - scrollTop;
    if (top <= -ROW_HEIGHT || top >= height) return;
    paintRow(context, picture, row, top, index < picture.zoomedDepth);
  });
}

function prepare(canvas: HTMLCanvasElement, picture: Picture): CanvasRenderingContext2D {
  const ratio = window.devicePixelRatio || 1;
  const width = Math.round(picture.width * ratio);
  const height = Math.round(picture.height * ratio);
  if (canvas.width !== width || canvas.height !== height) {
    canvas.width = width;
    canvas.height = height;
    canvas.style.width = `${picture.width}px`;
    canvas.style.height = `${picture.height}px`;
  }
  const context = canvas.getContext("2d");
  if (!context) throw new Error("this browser has no canvas");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.fillStyle = picture.palette.ground;
  context.fillRect(0, 0, picture.width, picture.height);
  context.font = FONT;
  context.textBaseline = "middle";
  return context;
}

function paintRow(
  context: CanvasRenderingContext2D,
  picture: Picture,
  row: Row,
  top: number,
  isAbove: boolean,
): void {
  row.node.forEach((node, at) => {
    const left = row.left[at] * picture.width;
    const width = Math.max(row.width[at] * picture.width, 0.5);
    const look = picture.look(node);
    context.globalAlpha = alphaOf(picture, look, isAbove);
    context.fillStyle = fillOf(picture.palette, look, picture.searching);
    const gap = width > 3 ? 1 : 0;
    context.fillRect(left, top, width - gap, ROW_HEIGHT - 1);
    context.globalAlpha = isAbove ? 0.75 : 1;
    if (width > NARROWEST_NAMED) {
      const marked = picture.searching && look.match;
      context.fillStyle = marked ? picture.palette.matchText : picture.palette.text;
      const text = fit(context, look.label, width - 2 * PADDING);
      context.fillText(text, left + PADDING, top + ROW_HEIGHT / 2);
    }
    if (node === picture.cursor) outline(context, picture.palette, left, top, width - gap);
  });
  context.globalAlpha = 1;
}

function alphaOf(picture: Picture, look: Look, isAbove: boolean): number {
  if (picture.searching && !look.match) return 0.45;
  return isAbove ? 0.6 : 1;
}

function fillOf(palette: Palette, look: Look, searching: boolean): string {
  if (searching && look.match) return palette.match;
  if (look.change !== null) return palette.changes[look.change + CHANGE_STEPS] ?? palette.all;
  return look.kind === null ? palette.all : palette.shades[look.kind][look.shade];
}

function outline(
  context: CanvasRenderingContext2D,
  palette: Palette,
  left: number,
  top: number,
  width: number,
): void {
  context.globalAlpha = 1;
  context.strokeStyle = palette.cursor;
  context.lineWidth = 1.5;
  context.strokeRect(left + 0.75, top + 0.75, Math.max(width - 1.5, 1), ROW_HEIGHT - 2.5);
}

const widths = new Map<string, number>();

function widthOf(context: CanvasRenderingContext2D, character: string): number {
  let width = widths.get(character);
  if (width === undefined) {
    width = context.measureText(character).width;
    widths.set(character, width);
  }
  return width;
}

/** Returns as much of `text` as fits: the module gives way first, at its start, so that the function stays. */
function fit(context: CanvasRenderingContext2D, text: string, room: number): string {
  const widthFrom = (from: number): number => {
    let width = 0;
    for (let at = from; at < text.length && width <= room; at++) width += widthOf(context, text[at]);
    return width;
  };
  if (widthFrom(0) <= room) return text;
  const ellipsis = widthOf(context, "…");
  const start = functionStart(text);
  if (start > 0 && widthFrom(start) <= room) {
    let from = start;
    while (from > 1 && widthFrom(from - 1) + ellipsis <= room) from -= 1;
    // A colon alone says nothing about the module.
    return from < start - 1 ? `…${text.slice(from)}` : text.slice(start);
  }
  let used = ellipsis;
  let end = start;
  while (end < text.length && (used += widthOf(context, text[end])) <= room) end += 1;
  return end > start ? `${text.slice(start, end)}…` : "";
}
