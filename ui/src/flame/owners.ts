// Whose the samples are: grouping, filtering and sums by role, queue, channel, connection …

import type { OwnersData } from "../wire.ts";
import { decodeRecords, type Range, type Records, weightWithin } from "./records.ts";
import type { Entries } from "./regroup.ts";

/** What of a recording is shown. */
export interface Selection {
  /** `dimension:label`, such as `queue:orders`; empty for everybody. */
  who: string;
  /** Dimension by which the graph is grouped; empty for none. */
  by: string;
  range: Range | null;
  /** A second range, with which the first is compared. */
  against: Range | null;
}

export interface Share {
  label: string;
  weight: number;
  processes: number;
}

export class Owners {
  private decoded: Records | null = null;

  constructor(readonly data: OwnersData) {}

  /** Dimensions in which anybody has a label. */
  dimensions(): string[] {
    return this.data.dimensions.filter((it) => it.labels.length > 0).map((it) => it.name);
  }

  hasTimes(): boolean {
    return this.data["step-nanos"] > 0 && this.data.steps.length > 1;
  }

  /** Weight by label, the heaviest first. */
  shares(dimension: string, range: Range | null): Share[] {
    const column = this.column(dimension);
    if (!column) return [];
    const shares: Share[] = column.labels.map((label) => ({ label, weight: 0, processes: 0 }));
    column.of.forEach((label, owner) => {
      if (label >= 0) (shares[label] as Share).processes += this.data.processes[owner] as number;
    });
    const records = this.records();
    for (let record = 0; record < records.length; record++) {
      const label = column.of[records.owner[record]] as number;
      if (label >= 0) (shares[label] as Share).weight += weightWithin(records, record, range);
    }
    return shares.filter((share) => share.weight > 0).sort((left, right) => right.weight - left.weight);
  }

  /** What of the selection goes to which stack node. Weight of what has no label gets the last root. */
  entries(selection: Selection): Entries {
    const records = this.records();
    const wanted = this.wanted(selection.who);
    const column = this.column(selection.by);
    const node: number[] = [];
    const root: number[] = [];
    const first: number[] = [];
    const second: number[] = [];
    for (let record = 0; record < records.length; record++) {
      const owner = records.owner[record];
      if (wanted && wanted[owner] === 0) continue;
      const weight = weightWithin(records, record, selection.range);
      const other = selection.against ? weightWithin(records, record, selection.against) : 0;
      if (weight === 0 && other === 0) continue;
      const label = column ? (column.of[owner] as number) : -1;
      node.push(records.node[record]);
      root.push(column && label < 0 ? column.labels.length : label);
      first.push(weight);
      second.push(other);
    }
    return compared({ node, root, weight: first, sides: null }, selection.against ? second : null);
  }

  /** What the frame of a root says. */
  rootName(dimension: string, root: number): string {
    const column = this.column(dimension);
    const label = column?.labels[root];
    return label === undefined ? `no ${dimension}` : `${dimension} ${label}`;
  }

  /** 1 for each owner that is meant; null for all. */
  private wanted(who: string): Uint8Array | null {
    const at = who.indexOf(":");
    const column = this.column(who.slice(0, Math.max(at, 0)));
    if (!column) return null;
    const label = column.labels.indexOf(who.slice(at + 1));
    return Uint8Array.from(column.of, (it) => (label >= 0 && it === label ? 1 : 0));
  }

  private column(dimension: string): OwnersData["dimensions"][number] | undefined {
    return this.data.dimensions.find((it) => it.name === dimension);
  }

  private records(): Records {
    this.decoded ??= decodeRecords(this.data.records);
    return this.decoded;
  }
}

/** Widths of a comparison: the mean of both shares, in millionths. */
function compared(entries: Entries, second: number[] | null): Entries {
  if (!second) return entries;
  const sum = (weights: number[]): number => weights.reduce((all, weight) => all + weight, 0);
  const totals = [sum(entries.weight), sum(second)] as const;
  if (totals[0] === 0 || totals[1] === 0) return entries;
  const weight = entries.weight.map((before, at) => 5e5 * (before / totals[0] + (second[at] as number) / totals[1]));
  return { ...entries, weight, sides: [entries.weight, second] };
}
