// Owners and times of the samples: the weight for each stack and owner, by steps of time. Reading only.

import type { Reader } from "../columns/reader.ts";

export interface Records {
  length: number;
  /** Last stack node of the record. */
  node: Int32Array;
  /** Number of its owner. */
  owner: Int32Array;
  /** Number of its label: thread, outcome, state. */
  label: Int32Array;
  /** Number of occurrences. */
  count: Float64Array;
  weight: Float64Array;
  /** Start of the record's points; those of the last record end at the length of `step`. */
  start: Int32Array;
  /** The step of time of each point, and the weight in it. */
  step: Int32Array;
  part: Float64Array;
}

/** A span of steps, the last one not included. */
export interface Range {
  from: number;
  to: number;
}

/** Reads the records of the page's columns, see crates/web `page/columns/layout.rs`. */
export function decodeRecords(reader: Reader): Records {
  const [length, points, counted] = [reader.number(), reader.number(), reader.number() === 1];
  reader.holds(length, 5);
  reader.holds(points, 2);
  const weight = new Float64Array(length);
  const records: Records = {
    length,
    node: new Int32Array(length),
    owner: new Int32Array(length),
    label: new Int32Array(length),
    count: counted ? new Float64Array(length) : weight,
    weight,
    start: new Int32Array(length + 1),
    step: new Int32Array(points),
    part: new Float64Array(points),
  };
  let node = 0;
  let point = 0;
  for (let record = 0; record < length; record++) {
    node += reader.number();
    records.node[record] = node;
    records.owner[record] = reader.number();
    records.label[record] = reader.number();
    weight[record] = reader.number();
    if (counted) records.count[record] = reader.number();
    records.start[record] = point;
    let step = 0;
    for (let left = reader.number(); left > 0; left--, point++) {
      step += reader.number();
      records.step[point] = step;
      records.part[point] = reader.number();
    }
  }
  records.start[length] = point;
  reader.finish();
  return records;
}

/** Returns the weight of a record within a range; its whole weight without a range. */
export function weightWithin(records: Records, record: number, range: Range | null): number {
  if (!range) return records.weight[record];
  let weight = 0;
  for (let at = records.start[record]; at < records.start[record + 1]; at++) {
    if (records.step[at] >= range.from && records.step[at] < range.to) weight += records.part[at];
  }
  return weight;
}
