// Tables of latencies by group and by queue.

import { h, headCell, scrolling } from "./dom.ts";
import { nanos, whole } from "./format.ts";
import type { LatencyFigures, RunRecord } from "./wire.ts";

interface Row {
  owner: string;
  latency: LatencyFigures;
}

export function breakdownPart(run: RunRecord): HTMLElement | null {
  const groups = rows(run.breakdown?.groups ?? [], (group) => group.group);
  const queues = rows(run.breakdown?.queues ?? [], (queue) => queue.queue);
  // The totals already show a single group.
  const hasGroups = new Set(groups.map((row) => row.latency.name)).size < groups.length;
  if (!hasGroups && queues.length === 0) return null;
  const leftOut = run.breakdown?.["left-out"] ?? 0;
  return h(
    "section",
    { class: "checks", "aria-label": "Latencies by group and queue" },
    hasGroups && table("Latency by group", groups),
    queues.length > 0 && table("Latency by queue", queues),
    leftOut > 0 && h("p", { class: "check" }, `${whole(leftOut)} more groups and queues are in the totals only.`),
  );
}

function rows<T extends { latencies: LatencyFigures[] }>(all: T[], name: (part: T) => string): Row[] {
  return all.flatMap((part) => part.latencies.map((latency) => ({ owner: name(part), latency })));
}

function table(title: string, all: Row[]): HTMLElement {
  const head = [title, "", "p50", "p99", "p99.9", "max", "measurements"];
  const body = all.map(({ owner, latency }) =>
    h(
      "tr",
      {},
      h("td", {}, owner),
      h("td", {}, latency.name),
      h("td", {}, nanos(latency.p50)),
      h("td", {}, nanos(latency.p99)),
      h("td", {}, nanos(latency.p999)),
      h("td", {}, nanos(latency.max)),
      h("td", {}, whole(latency.count)),
    ),
  );
  const drawn = h(
    "table",
    { class: "expectations" },
    h("thead", {}, h("tr", {}, ...head.map(headCell))),
    h("tbody", {}, ...body),
  );
  return scrolling(title, drawn);
}
