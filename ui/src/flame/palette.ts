// Colours of frames. The style sheet owns them (`--kind-…`); the canvas needs them as values.

import type { FrameKind } from "../wire.ts";

export interface Palette {
  /** By kind: the shades of its frames, chosen by module. */
  shades: Record<FrameKind, string[]>;
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
  "vm-fragment": "VM fragment",
  native: "Native",
  kernel: "Kernel",
};

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
    shades: {
      thread: shades("thread"),
      erlang: shades("erlang"),
      "vm-fragment": shades("vm-fragment"),
      native: shades("native"),
      kernel: shades("kernel"),
    },
    text: value("--frame-text"),
    all: value("--frame-all"),
    match: value("--frame-match"),
    matchText: value("--frame-match-text"),
    ground: value("--ground-graph"),
    cursor: value("--ink"),
  };
}

/** Which shade a function has: all functions of a module share one. */
export function shadeOf(name: string): number {
  const colon = name.indexOf(":");
  const module = colon > 0 ? name.slice(0, colon) : name;
  let hash = 0;
  for (let at = 0; at < module.length; at++) hash = (hash * 31 + module.charCodeAt(at)) >>> 0;
  return hash % SHADES;
}
