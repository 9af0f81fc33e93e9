// The data of a document, as crates/web `document` serialises it. Types only. Texts are names and sentences of others:
// they become text nodes. An absent column or field means that there is nothing.

import type { Brief, Figure, PacketFinding, Unit } from "../wire.ts";

/** A unit, the ratio of two values, or a point in time in nanoseconds since 1970. */
export type Measure = Unit | "change" | "moment";

export interface DocumentData {
  title: string;
  facts: string[];
  sections: SectionData[];
}

export interface SectionData {
  id: string;
  title: string;
  intro: string;
  blocks: BlockData[];
}

export type BlockData = { id: string } & Content;

export type Content =
  | { kind: "tiles"; label: string; figures: Figure[] }
  | ({ kind: "table" } & TableData)
  | ({ kind: "charts" } & ChartsData)
  | { kind: "sentences"; sentences: Sentence[] }
  | { kind: "findings"; findings: PacketFinding[] }
  | { kind: "links"; links: { text: string; href: string }[] }
  | { kind: "details"; summary: string; blocks: BlockData[] }
  | { kind: "limit"; note: string; brief: Brief | null }
  /** The place of the profile of a live page. */
  | { kind: "stacks" };

export type Tone = "plain" | "soft" | "undecided" | "good" | "note" | "warning" | "bad";

export interface Sentence {
  text: string;
  tone: Tone;
  /** The word before the sentence. */
  badge?: string;
}

/** Fields whose values are in the address of the page. */
export interface FormData {
  label: string;
  fields: FieldData[];
}

export interface FieldData {
  /** Key in the address. */
  name: string;
  label: string;
  value: string;
  /** Values and their texts; absent for free text. */
  options?: [string, string][];
}

/** A choice of two rows, which leads to a page about both. */
export interface ChoiceData {
  page: string;
  /** Keys of the lower row and the upper one in its address. */
  keys: [string, string];
  /** A value for each row; null in a row that cannot be chosen. */
  values: (string | null)[];
}

export interface TableData {
  label: string;
  /** Fields above the table; without columns it is its fields alone. */
  form?: FormData;
  choice?: ChoiceData;
  /** The colours of bars. */
  key?: { hue: Hue; name: string; meaning: string }[];
  columns: { name: string; meaning?: string; numeric?: boolean }[];
  rows: Cell[][];
}

/** A text, or a value in a unit; a bar has its parts with their hues and shares. */
export interface Cell {
  text?: string;
  value?: number | null;
  measure?: Measure;
  small?: string;
  meaning?: string;
  link?: string;
  /** Further links: their texts and addresses. */
  links?: [string, string][];
  tone?: Tone;
  code?: boolean;
  bar?: [Hue, number][];
  /** Number of rows that the cell covers. */
  covers?: number;
}

export interface ChartsData {
  charts: ChartData[];
  /** Marks behind those of every chart. */
  shared?: MarkData[];
}

export interface ChartData {
  title: string;
  note?: string;
  x: AxisData;
  y: AxisData;
  marks: MarkData[];
}

export interface AxisData {
  label?: string;
  measure: Measure;
  scale: "linear" | "log" | "band";
  /** Named places, in place of round values; the names of bands stand at 0, 1, 2 … */
  names?: [number, string][];
  from?: number;
  to?: number;
}

/** A number for one of several series, or a meaning. */
export type Hue = number | "good" | "warn" | "bad" | "soft" | "window" | "heat";

export type MarkKind = "line" | "steps" | "points" | "intervals" | "bars" | "cells" | "spans";

/** Columns of equal length: an entry of each is one item. */
export interface Columns {
  x?: (number | null)[];
  y?: (number | null)[];
  /** Ends of an interval, along the axis without bands; base of a bar. */
  low?: (number | null)[];
  high?: (number | null)[];
  /** End of a span or a cell along x. */
  to?: number[];
  /** Weight of a cell, from 0 to the largest. */
  value?: number[];
  text?: string[];
  link?: string[];
  hollow?: boolean[];
}

export interface MarkData extends Columns {
  kind: MarkKind;
  name: string;
  hue: Hue;
  /** Value of the deepest shade, which several charts may share. */
  most?: number;
  /** Unit of `value`. */
  measure?: Measure;
  /** The command that makes the page of a cell: its words, the beginning of its file, the start of each row in seconds since 1970. */
  command?: { words: string; file: string; rows: number[] };
}

/** A change of a page: items for marks of a chart, and blocks in place of those with the same id. */
export interface Tick {
  /** Nanoseconds since 1970; given by a live page. */
  at?: number;
  append?: { block: string; chart: number; mark: number; columns: Columns }[];
  replace?: BlockData[];
  /** The latest window of the profile, which `profile.json` has. */
  profile?: { number: number };
}
