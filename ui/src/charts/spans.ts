// Spans of the load in which the broker did not serve, an alarm blocked publishers, or a node had a fault: a
// strip over every chart, and its key.

import { h, s } from "../dom.ts";
import type { Fault, RunRecord } from "../wire.ts";

export interface Span {
  kind: "without" | "blocked" | "fault";
  /** Seconds since the start of the load. */
  from: number;
  to: number;
  reason: string;
}

const NAMES = { without: "without service", blocked: "blocked by an alarm", fault: "under an injected fault" };
const STRIP = 5;
/** Each kind has its strip above that of the previous kind. */
const KINDS = ["without", "blocked", "fault"] as const;

export function spansOf(run: RunRecord | null): Span[] {
  const served = (run?.service?.spans ?? []).map((span): Span => ({
    kind: span.kind === "blocked" ? "blocked" : "without",
    from: span["from-nanos"] / 1e9,
    to: span["to-nanos"] / 1e9,
    reason: span.reason,
  }));
  return [...served, ...(run?.faults ?? []).flatMap(faultSpan)];
}

/** Returns the span from the start of a fault until it was undone. A fault that never began has none. */
function faultSpan(fault: Fault): Span[] {
  const from = fault["begun-nanos"];
  if (from === undefined) return [];
  const to = fault["undone-nanos"] ?? fault["undo-begun-nanos"] ?? from;
  const failure = fault.failure === undefined ? "" : `; ${fault.failure}`;
  return [{ kind: "fault", from: from / 1e9, to: to / 1e9, reason: `${fault.kind} of ${fault.node}${failure}` }];
}

/** Describes a point in time by its spans. */
export function spanAt(spans: Span[], at: number): string {
  const names = new Set(spans.filter((span) => span.from <= at && at <= span.to).map((span) => NAMES[span.kind]));
  return [...names].map((name) => `, ${name}`).join("");
}

/**
 * Draws a band behind the lines and a strip above them. A fault has a line at its start, which makes its
 * effect visible.
 */
export function drawSpans(spans: Span[], x: (at: number) => number, top: number, bottom: number): SVGElement[] {
  return spans.flatMap((span) => {
    const left = x(span.from);
    const width = Math.max(x(span.to) - left, 1);
    const place = KINDS.indexOf(span.kind);
    const strip = top - (place + 1) * STRIP - place;
    const behind =
      span.kind === "fault"
        ? s("line", { class: "fault-begin", x1: left, x2: left, y1: strip, y2: bottom })
        : s("rect", { class: "span-band", "data-kind": span.kind, x: left, y: top, width, height: bottom - top });
    const name = `${NAMES[span.kind]}, ${span.from.toFixed(1)} to ${span.to.toFixed(1)} s: ${span.reason}`;
    return [
      behind,
      s("rect", { class: "span-strip", "data-kind": span.kind, x: left, y: strip, width, height: STRIP }, s("title", {}, name)),
    ];
  });
}

/** Returns the key to the colours, for the charts below. */
export function spansKey(spans: Span[]): HTMLElement | null {
  const kinds = KINDS.filter((kind) => spans.some((span) => span.kind === kind));
  if (kinds.length === 0) return null;
  const items = kinds.map((kind) =>
    h("li", {}, h("span", { class: "span-chip", "data-kind": kind, "aria-hidden": "true" }), `the broker: ${NAMES[kind]}`),
  );
  return h("ul", { class: "spans-key" }, ...items);
}
