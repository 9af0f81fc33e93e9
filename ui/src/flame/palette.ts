// Colours of frames. The style sheet owns them (`--kind-…`); the canvas needs them as values.

import type { FrameKind } from "../wire.ts";

export interface Palette {
  /** The shades of each kind's frames, chosen by module. */
  shades: Record<FrameKind, string[]>;
  /** From much less to much more, see {@link changeStep}. */
  changes: string[];
  text: string;
  all: string;
  match: string;
  matchText: string;
  ground: string;
  cursor: string;
}

export const KIND_NAMES: Record<FrameKind, string> = {
  thread: "Thread",
  erlang: "Erlang",
  bif: "BIF or NIF",
  "vm-fragment": "VM fragment",
  native: "Native",
  kernel: "Kernel",
  "garbage-collection": "Garbage collection",
  scheduling: "Scheduling",
  sending: "Message sending",
  "lock-wait": "Locks",
  waiting: "Waiting",
  runnable: "Runnable",
};

/** Returns whether `kind` belongs to a chosen kind; empty for all. BIFs are Erlang functions. */
export function isAmong(kind: FrameKind | undefined, chosen: FrameKind | ""): boolean {
  return chosen === "" || kind === chosen || (chosen === "erlang" && kind === "bif");
}

const SHADES = 5;

export function readPalette(element: Element): Palette {
  const style = getComputedStyle(element);
  const value = (name: string): string => style.getPropertyValue(name).trim();
  const shades = (kind: string): string[] => {
    const [hue, saturation, lightness] = value(`--kind-${kind}`).split(/\s+/).map(parseFloat);
    return Array.from({ length: SHADES }, (_, at) => {
      const shade = lightness + (at - (SHADES - 1) / 2) * 2.2;
      return `hsl(${hue} ${saturation}% ${shade}%)`;
    });
  };
  return {
    shades: Object.fromEntries(Object.keys(KIND_NAMES).map((kind) => [kind, shades(kind)])) as Palette["shades"],
    changes: changes(value("--less"), value("--same"), value("--more")),
    text: value("--frame-text"),
    all: value("--frame-all"),
    match: value("--frame-match"),
    matchText: value("--frame-match-text"),
    ground: value("--ground-graph"),
    cursor: value("--ink"),
  };
}

/** Number of steps on each side of no change. */
export const CHANGE_STEPS = 4;

const STEP_STARTS = [0.05, 0.15, 0.35, 0.65];
const SMALLEST_CHANGE = 0.0005;

/**
 * Returns the colour of a change between two shares. −4 means (nearly) vanished, 4 (nearly) new. 0 is less
 * than 0.05 points or less than a tenth of the share.
 */
export function changeStep(before: number, after: number): number {
  if (Math.abs(after - before) < SMALLEST_CHANGE) return 0;
  const relative = Math.abs(after - before) / (after + before);
  return Math.sign(after - before) * STEP_STARTS.filter((start) => relative >= start).length;
}

function changes(less: string, same: string, more: string): string[] {
  const steps = Array.from({ length: CHANGE_STEPS }, (_, at) => 0.28 + (0.72 * at) / (CHANGE_STEPS - 1));
  const towards = (colour: string): string[] => steps.map((part) => mix(same, colour, part));
  return [...towards(less).reverse(), same, ...towards(more)];
}

/** Mixes two colours of the form `#rrggbb`. */
function mix(from: string, to: string, part: number): string {
  const channel = (colour: string, at: number): number => Number.parseInt(colour.slice(at, at + 2), 16);
  const mixed = [1, 3, 5].map((at) => Math.round(channel(from, at) * (1 - part) + channel(to, at) * part));
  return `rgb(${mixed.join(" ")})`;
}

/** Returns the shade of a function: all functions of a module share one. */
export function shadeOf(name: string): number {
  const colon = name.indexOf(":");
  const module = colon > 0 ? name.slice(0, colon) : name;
  let hash = 0;
  for (let at = 0; at < module.length; at++) hash = (hash * 31 + module.charCodeAt(at)) >>> 0;
  return hash % SHADES;
}
