// Tables of the faults of the broker's nodes, their costs, and the leaders of the queues.

import { h } from "./dom.ts";
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
    faults.length > 0 && table(["Fault", "node", "due", "happened", "back", "without service", "publishers waited", "longest wait"], faults.map(rowOf)),
    replicas.length > 0 && leaders(replicas),
  );
}

function rowsOf(of: FaultTimes): string[][] {
  const rows: [string, Percentiles][] = [
    ["without service", of["without-service"]],
    ["publishers waited", of.stalled],
    ["longest wait of a channel", of["longest-wait"]],
    ["back in service after", of["return-to-service"]],
  ];
  const kind = `${of.kind}: ${whole(of["as-planned"])} of ${whole(of.planned)} as planned`;
  return rows.map(([name, it], at) => [
    at === 0 ? kind : "",
    name,
    ...[it.p50, it.p90, it.p99, it.max].map((value) => (it.count > 0 ? nanos(value) : "–")),
    whole(it.count),
  ]);
}

function rowOf(fault: Fault): string[] {
  const second = (at: number | undefined): string => (at === undefined ? "–" : `${(at / 1e9).toFixed(1)} s`);
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
      const row = [queue.leader ?? "nobody", others(queue.members, queue.leader), others(missing(queue.members, queue.online))];
      const words = row.join("|");
      if (last.get(queue.name) === words) continue;
      last.set(queue.name, words);
      rows.push([queue.name, queue.type, when, ...row]);
    }
  }
  return table(["Queue", "", "from", "leader", "followers", "of them away"], rows);
}

function missing(members: string[], online: string[]): string[] {
  return members.filter((member) => !online.includes(member));
}

function others(members: string[], leader?: string): string {
  return members.filter((member) => member !== leader).join(", ") || "–";
}

function table(head: string[], body: string[][]): HTMLElement {
  return h(
    "table",
    { class: "expectations" },
    h("thead", {}, h("tr", {}, ...head.map((text) => h("th", {}, text)))),
    h("tbody", {}, ...body.map((row) => h("tr", {}, ...row.map((text) => h("td", {}, text))))),
  );
}
