// Spans of the load in which the broker did not serve, or an alarm held publishers: a strip over every
// chart, and its key.

import { h, s } from "../dom.ts";
import type { RunRecord } from "../wire.ts";

export interface Span {
  kind: "without" | "blocked";
  /** Seconds since the start of the load. */
  from: number;
  to: number;
  reason: string;
}

const NAMES = { without: "without service", blocked: "blocked by an alarm" };
const STRIP = 5;

export function spansOf(run: RunRecord | null): Span[] {
  return (run?.service?.spans ?? []).map((span) => ({
    kind: span.kind === "blocked" ? "blocked" : "without",
    from: span["from-nanos"] / 1e9,
    to: span["to-nanos"] / 1e9,
    reason: span.reason,
  }));
}

/** What the strip says of a point in time. */
export function spanAt(spans: Span[], at: number): string {
  const names = new Set(spans.filter((span) => span.from <= at && at <= span.to).map((span) => NAMES[span.kind]));
  return [...names].map((name) => `, ${name}`).join("");
}

/** A band behind the lines and a strip above them; one kind has its strip above the other's. */
export function drawSpans(spans: Span[], x: (at: number) => number, top: number, bottom: number): SVGElement[] {
  return spans.flatMap((span) => {
    const left = x(span.from);
    const width = Math.max(x(span.to) - left, 1);
    const strip = span.kind === "without" ? top - STRIP : top - 2 * STRIP - 1;
    const name = `${NAMES[span.kind]}, ${span.from.toFixed(1)} to ${span.to.toFixed(1)} s: ${span.reason}`;
    return [
      s("rect", { class: "span-band", "data-kind": span.kind, x: left, y: top, width, height: bottom - top }),
      s("rect", { class: "span-strip", "data-kind": span.kind, x: left, y: strip, width, height: STRIP }, s("title", {}, name)),
    ];
  });
}

/** Which colour is which, for the charts below. */
export function spansKey(spans: Span[]): HTMLElement | null {
  const kinds = (["without", "blocked"] as const).filter((kind) => spans.some((span) => span.kind === kind));
  if (kinds.length === 0) return null;
  const items = kinds.map((kind) =>
    h("li", {}, h("span", { class: "span-chip", "data-kind": kind, "aria-hidden": "true" }), `the broker: ${NAMES[kind]}`),
  );
  return h("ul", { class: "spans-key" }, ...items);
}
