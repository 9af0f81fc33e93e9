// The document and the ticks of a live page for tests, and a large profile.

import { gzipSync } from "node:zlib";
import type { DocumentData, Tick } from "../../src/blocks/data.ts";
import type { Brief, Figure } from "../../src/wire.ts";
import { encoded, numbers } from "../unit/trees.ts";
import { file } from "./live-server.ts";

export const START = 1_764_270_000_000_000_000;
const SECOND = 1e9;

const LINES = ["published", "confirmed", "consumed"];
const CHARTS = ["Messages", "Bytes", "Latency", "CPU", "Memory", "Queues"];

export function head(): DocumentData {
  const charts = CHARTS.map((title) => ({
    title,
    x: { label: "time since the start", measure: "nanoseconds" as const, scale: "linear" as const, from: 0 },
    y: { measure: "per-second" as const, scale: "linear" as const, from: 0 },
    marks: LINES.map((name, hue) => ({ kind: "line" as const, name, hue, x: [], y: [] })),
  }));
  return {
    title: "<live> & more",
    facts: ["RabbitMQ 3.10.8", "node rabbit@<host>"],
    sections: [
      { id: "now", title: "Now", intro: "", blocks: [{ id: "limit", kind: "limit", note: "", brief: brief(0) }, { id: "figures", kind: "tiles", label: "Figures", figures: [] }] },
      { id: "where", title: "Where the time goes", intro: "", blocks: [{ id: "stacks", kind: "stacks" }] },
      { id: "times", title: "Over time", intro: "", blocks: [{ id: "charts", kind: "charts", charts }] },
      { id: "queues", title: "Queues", intro: "", blocks: [table("queues", 0), { id: "more", kind: "details", summary: "More", blocks: [table("inner", 0)] }] },
    ],
  };
}

function table(id: string, second: number): { id: string; kind: "table"; label: string; columns: { name: string; numeric?: boolean }[]; rows: { text?: string; value?: number }[][] } {
  const rows = Array.from({ length: 30 }, (_, row) => [{ text: `queue <${row}>` }, { value: second * 30 + row }, { value: row }]);
  return { id, kind: "table", label: `Table ${id}`, columns: [{ name: "queue" }, { name: "messages", numeric: true }, { name: "bytes", numeric: true }], rows };
}

function brief(second: number): Brief {
  const finding = { rule: "a-rule", severity: "warning" as const, sentence: "The queue <b>slow</b> grows", evidence: `${second} messages`, change: "use 4 queues" };
  const findings = second < 3 ? [] : [finding];
  return { kind: "process", certainty: "likely", limit: `one process <i>for</i> ${second} s`, evidence: [], findings, "more-findings": 0, "not-judged": "" };
}

/** Returns the tick of a second. It stands for `seconds` seconds. */
export function tick(second: number, seconds = 1): Tick {
  const at = Array.from({ length: seconds }, (_, part) => second * seconds + part);
  const figure: Figure = { name: "published", value: 1000 + second, unit: "per-second", meaning: "Rate", of: null, details: [] };
  return {
    at: START + second * seconds * SECOND,
    append: CHARTS.flatMap((_, chart) =>
      LINES.map((_, mark) => ({ block: "charts", chart, mark, columns: { x: at.map((time) => time * SECOND), y: at.map((time) => 100 * (mark + 1) + (time % 50)) } })),
    ),
    replace: [
      { id: "limit", kind: "limit", note: "", brief: brief(second) },
      { id: "figures", kind: "tiles", label: "Figures", figures: [figure] },
      table("queues", second),
      { id: "more", kind: "details", summary: "More", blocks: [table("inner", second)] },
    ],
  };
}

const CLASSES = 3000;

/** Returns the body of `profile.json` for some 30,000 nodes in stacks of up to 40 frames. */
export function largeProfile(number: number, nodes = 30_000): string {
  let seed = 7;
  const random = (below: number): number => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
    return Math.floor((seed / 2 ** 31) * below);
  };
  const columns = { frame: [] as number[], climb: [] as number[], self: [] as number[], "run-node": [], "run-length": [], "kind-node": [], "kind-number": [] };
  let depth = 0;
  for (let node = 0; node < nodes; node++) {
    const climb = node === 0 ? 0 : depth >= 40 ? 1 + random(30) : Math.min(depth, random(3));
    depth += 1 - climb;
    columns.climb.push(climb);
    // Siblings of the same function do not occur.
    columns.frame.push((node * 7 + number) % CLASSES);
    columns.self.push(1 + random(20) + (node % (number + 2) === 0 ? 30 : 0));
  }
  const answer = JSON.parse(file("profile-1.json")) as { profile: Record<string, unknown> & { total: number } };
  const names = Array.from({ length: CLASSES }, (_, name) => `rabbit_module_${name % 97}:function_${name}/2`);
  const text = gzipSync(encoded(columns, names, new Uint8Array(CLASSES).fill(1), [], numbers([0, 0, 0]))).toString("base64");
  const total = columns.self.reduce((sum, weight) => sum + weight, 0);
  const weights = names.map((_, name) => 10 + (name % 89));
  const functions = { frame: names.map((_, name) => name), own: weights, self: weights, total: weights };
  return JSON.stringify({ number, profile: { ...answer.profile, total, functions, lines: { files: [], frame: [], file: [], line: [], own: [], total: [] } }, columns: text });
}
