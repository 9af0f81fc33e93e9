// Owners of the samples: grouping, filtering and sums by role, queue, channel, connection, thread …

import type { OwnersData, Quality, WaitState } from "../wire.ts";
import { type Range, type Records, weightWithin } from "./records.ts";
import type { Entries } from "./regroup.ts";

/** The quality of no samples. */
export const NO_QUALITY: Quality = {
  complete: 0,
  truncated: 0,
  broken: 0,
  "no-process": 0,
  "no-function": 0,
  unsymbolised: 0,
  "not-unwound": 0,
  lost: 0,
};

/** The selected part of a recording. */
export interface Selection {
  /** Owner as `dimension:label`, such as `queue:orders`, or see {@link NO_PROCESS}; empty for all. */
  owner: string;
  /** Dimension by which the graph is grouped; empty for none. */
  by: string;
  /** For time off the CPU, a state or `all`; empty for the default. */
  state: string;
  range: Range | null;
  /** A second range, which the first is compared with. */
  against: Range | null;
}

export const EVERYTHING: Selection = { owner: "", by: "", state: "", range: null, against: null };

/** The owner of samples that no process ran. */
export const NO_PROCESS = "no-process";

/** Begins the owner of samples whose process has no label of a dimension, such as `without:queue`. */
const WITHOUT = "without";

export interface Share {
  /** The owner in a {@link Selection}. */
  owner: string;
  label: string;
  weight: number;
  processes: number;
}

/** Labels that distinguish records. */
interface Column {
  labels: string[];
  /** Returns the number of a record's label; -1 for none. */
  of(record: number): number;
}

export class Owners {
  constructor(
    public data: OwnersData,
    private records: Records,
  ) {}

  /** Takes those of another profile. */
  load(data: OwnersData, records: Records): void {
    [this.data, this.records] = [data, records];
  }

  /** Returns the dimensions in which at least one owner has a label. */
  dimensions(): string[] {
    const named = this.data.dimensions.filter(({ labels }) => labels.length > 0).map(({ name }) => name);
    return this.data.labels.threads.some((name) => name !== "") ? [...named, "thread"] : named;
  }

  hasTimes(): boolean {
    return this.data["step-nanos"] > 0 && this.data.steps.length > 1;
  }

  /** Returns whether records have the reason why a thread was off the CPU. */
  hasStates(): boolean {
    return this.data.labels.state.some((state) => state !== null);
  }

  /** Returns whether the selection is the whole recording. */
  isWhole({ owner, state, range }: Selection): boolean {
    return !owner && !range && this.stateOf(state) === null;
  }

  /** Returns the shown state. For time off the CPU the default is the blocked time. */
  stateOf(chosen: string): WaitState | null {
    if (!this.hasStates() || chosen === "all") return null;
    return this.data.labels.state.find((state) => state === chosen) ?? "blocked";
  }

  /**
   * Returns weights by label, the heaviest first, then those of other processes and of none: together the whole. The
   * dimension's own filter does not count.
   */
  shares(dimension: string, selection: Selection): Share[] {
    const column = this.column(dimension);
    if (!column) return [];
    const rows = column.labels.map((label) => [`${dimension}:${label}`, label] as const);
    const others = [[`${WITHOUT}:${dimension}`, `rest: processes without a ${dimension}`], [NO_PROCESS, "no process"]] as const;
    const all = [...rows, ...others];
    const { owner } = this.records;
    const { processes } = this.data;
    // Only threads share an owner; in every other dimension an owner has one row.
    const rowLength = dimension === "thread" ? processes.length : 0;
    const seen = new Uint8Array(all.length * rowLength + processes.length);
    const [weights, counts] = [new Float64Array(all.length), new Float64Array(all.length)];
    this.eachOf(this.beside(dimension, selection), (record, weight) => {
      const [label, process] = [column.of(record), owner[record]];
      const at = label >= 0 ? label : rows.length + (process === 0 ? 1 : 0);
      weights[at] += weight;
      if (seen[at * rowLength + process] === 0) counts[at] += processes[process] as number;
      seen[at * rowLength + process] = 1;
    });
    const shares = all.map(([owner, label], at) => ({ owner, label, weight: weights[at], processes: counts[at] }));
    const named = shares.slice(0, rows.length).sort((left, right) => right.weight - left.weight);
    return [...named, ...shares.slice(rows.length)].filter((share) => share.weight > 0);
  }

  /** Names an owner of a selection. */
  nameOf(owner: string): string {
    if (owner === NO_PROCESS) return "no process";
    const [dimension, label] = parted(owner);
    return dimension === WITHOUT ? `processes without a ${label}` : `${dimension} ${label}`;
  }

  /** Returns the weight of a selection. */
  weight(selection: Selection): number {
    let sum = 0;
    this.eachOf(selection, (_, weight) => (sum += weight));
    return sum;
  }

  /** Returns the weight by step of time, independent of the chosen span. */
  steps(selection: Selection): number[] {
    const all = { ...selection, range: null };
    if (this.isWhole(all)) return this.data.steps;
    const steps = this.data.steps.map(() => 0);
    const { start, step, part } = this.records;
    this.eachOf(all, (record) => {
      for (let at = start[record]; at < start[record + 1]; at++) {
        if (step[at] < steps.length) steps[step[at]] += part[at];
      }
    });
    return steps;
  }

  /** Returns nanoseconds off the CPU in a state, for the same owners and span. */
  weightIn(state: WaitState, selection: Selection): number {
    return this.weight({ ...selection, state });
  }

  /**
   * Returns the quality of the stacks of a selection, in occurrences. For weights that are not counts, it is
   * unknown by time. Losses have no owner.
   */
  quality(selection: Selection): Quality | null {
    const { counted, labels } = this.data;
    if (counted && selection.range) return null;
    const quality = { ...NO_QUALITY };
    const { count, label } = this.records;
    this.eachOf(selection, (record, weight) => {
      const outcome = labels.outcome[label[record]];
      if (outcome === "unknown") return;
      const times = counted ? count[record] : weight;
      quality[outcome as keyof Quality] += times;
      if (labels.unsymbolised[label[record]]) quality.unsymbolised += times;
      if (labels["no-function"][label[record]]) quality["no-function"] += times;
    });
    return quality;
  }

  /** Distributes the selection to stack nodes. Weight without a label goes to the last root. */
  entries(selection: Selection): Entries {
    const records = this.records;
    const column = this.column(selection.by);
    const entries = { node: [] as number[], root: [] as number[] };
    const [first, second]: [number[], number[]] = [[], []];
    this.eachSelected(selection, (record) => {
      const weight = weightWithin(records, record, selection.range);
      const other = selection.against ? weightWithin(records, record, selection.against) : 0;
      if (weight === 0 && other === 0) return;
      const label = column ? column.of(record) : -1;
      entries.node.push(records.node[record]);
      entries.root.push(column && label < 0 ? column.labels.length : label);
      first.push(weight);
      second.push(other);
    });
    return compared({ ...entries, weight: first, sides: null }, selection.against ? second : null);
  }

  /** Returns the name of a root's frame. */
  rootName(dimension: string, root: number): string {
    const label = this.column(dimension)?.labels[root];
    return label === undefined ? `no ${dimension}` : `${dimension} ${label}`;
  }

  /** Returns the selection without the choice of this dimension. */
  private beside(dimension: string, selection: Selection): Selection {
    const { owner } = selection;
    const isOfEach = owner === NO_PROCESS && dimension !== "thread";
    const isOwn = isOfEach || owner === `${WITHOUT}:${dimension}` || owner.startsWith(`${dimension}:`);
    return isOwn ? { ...selection, owner: "" } : selection;
  }

  /** Visits the records of a selection with their weight in its span. */
  private eachOf(selection: Selection, visit: (record: number, weight: number) => void): void {
    const records = this.records;
    this.eachSelected(selection, (record) => {
      const weight = weightWithin(records, record, selection.range);
      if (weight > 0) visit(record, weight);
    });
  }

  /** Visits the records of a selection at any time. */
  private eachSelected({ owner, state }: Selection, visit: (record: number) => void): void {
    const records = this.records;
    const isWanted = this.filterOf(owner);
    const shown = this.stateOf(state);
    for (let record = 0; record < records.length; record++) {
      if (isWanted && !isWanted(record)) continue;
      if (shown && this.data.labels.state[records.label[record]] !== shown) continue;
      visit(record);
    }
  }

  /** Returns whether a record belongs to an owner; null if all do. */
  private filterOf(owner: string): ((record: number) => boolean) | null {
    const { owner: process } = this.records;
    if (owner === NO_PROCESS) return (record) => process[record] === 0;
    const [dimension, label] = parted(owner);
    const column = this.column(dimension === WITHOUT ? label : dimension);
    if (!column) return null;
    if (dimension === WITHOUT) return (record) => process[record] !== 0 && column.of(record) < 0;
    const wanted = column.labels.indexOf(label);
    return (record) => wanted >= 0 && column.of(record) === wanted;
  }

  private column(dimension: string): Column | null {
    const { labels, dimensions } = this.data;
    const { owner, label } = this.records;
    if (dimension === "thread") return { labels: labels.threads, of: (record) => labels.thread[label[record]] as number };
    const found = dimensions.find(({ name }) => name === dimension);
    return found ? { labels: found.labels, of: (record) => found.of[owner[record]] as number } : null;
  }
}

/** Splits an owner into dimension and label. */
function parted(owner: string): [string, string] {
  const at = owner.indexOf(":");
  return [owner.slice(0, Math.max(at, 0)), owner.slice(at + 1)];
}

/** Computes the widths of a comparison: the mean of both shares, in millionths. */
function compared(entries: Entries, second: number[] | null): Entries {
  if (!second) return entries;
  const sum = (weights: number[]): number => weights.reduce((all, weight) => all + weight, 0);
  const totals = [sum(entries.weight), sum(second)] as const;
  if (totals[0] === 0 || totals[1] === 0) return entries;
  const weight = entries.weight.map((before, at) => 5e5 * (before / totals[0] + (second[at] as number) / totals[1]));
  return { ...entries, weight, sides: [entries.weight, second] };
}
