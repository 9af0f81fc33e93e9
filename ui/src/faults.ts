// Tables of the faults of the broker's nodes, their costs, and the leaders of the queues.

import { h, headCell, scrolling } from "./dom.ts";
import { nanos, whole } from "./format.ts";
import type { Fault, FaultTimes, Percentiles, RunRecord } from "./wire.ts";

export function faultsPart(run: RunRecord): HTMLElement | null {
  const faults = run.faults ?? [];
  const times = run["fault-times"] ?? [];
  const replicas = run.replicas ?? [];
  if (faults.length === 0 && replicas.length === 0) return null;
  return h(
    "section",
    { class: "checks", "aria-label": "Faults" },
    times.length > 0 && table(["Faults, each until the next", "", "p50", "p90", "p99", "max", "measurements"], times.flatMap(rowsOf)),
    faults.length > 0 && table(["Fault", "node", "planned", "begun", "undone", "without service", "publishers waited", "longest wait"], faults.map(rowOf)),
    replicas.length > 0 && leaders(replicas),
  );
}

function rowsOf(times: FaultTimes): string[][] {
  const rows: [string, Percentiles][] = [
    ["without service", times["without-service"]],
    ["publishers waited", times.stalled],
    ["longest wait of a channel", times["longest-wait"]],
    ["back in service after", times["return-to-service"]],
  ];
  const kind = `${times.kind}: ${whole(times["as-planned"])} of ${whole(times.planned)} as planned`;
  return rows.map(([name, row], index) => [
    index === 0 ? kind : "",
    name,
    ...[row.p50, row.p90, row.p99, row.max].map((value) => (row.count > 0 ? nanos(value) : "–")),
    whole(row.count),
  ]);
}

function rowOf(fault: Fault): string[] {
  const second = (nanos: number | undefined): string => (nanos === undefined ? "–" : `${(nanos / 1e9).toFixed(1)} s`);
  const cost = (value: number | undefined): string => (value === undefined ? "–" : nanos(value));
  return [
    fault.kind,
    fault.node,
    second(fault["planned-nanos"]),
    fault.failure ?? second(fault["begun-nanos"]),
    second(fault["undone-nanos"]),
    cost(fault.outage?.["without-service-nanos"]),
    cost(fault.outage?.["stalled-nanos"]),
    cost(fault.outage?.["longest-wait-nanos"]),
  ];
}

/** Lists the leader of each queue at each change. */
function leaders(replicas: NonNullable<RunRecord["replicas"]>): HTMLElement {
  const rows: string[][] = [];
  const last = new Map<string, string>();
  for (const { when, queues } of replicas) {
    for (const queue of queues) {
      const row = [queue.leader ?? "none", others(queue.members, queue.leader), others(missing(queue.members, queue.online))];
      const words = row.join("|");
      if (last.get(queue.name) === words) continue;
      last.set(queue.name, words);
      rows.push([queue.name, queue.type, when, ...row]);
    }
  }
  return table(["Queue", "", "from", "leader", "followers", "followers away"], rows);
}

function missing(members: string[], online: string[]): string[] {
  return members.filter((member) => !online.includes(member));
}

function others(members: string[], leader?: string): string {
  return members.filter((member) => member !== leader).join(", ") || "–";
}

function table(head: string[], body: string[][]): HTMLElement {
  const drawn = h(
    "table",
    { class: "expectations" },
    h("thead", {}, h("tr", {}, ...head.map(headCell))),
    h("tbody", {}, ...body.map((row) => h("tr", {}, ...row.map((text) => h("td", {}, text))))),
  );
  return scrolling(head[0] ?? "", drawn);
}
