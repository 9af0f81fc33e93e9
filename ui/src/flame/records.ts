// Owners and times of the samples: the weight for each stack and owner, by steps of time. Reading only.

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

/**
 * Decodes Base64 of variable-length numbers (LEB128). The stream has the number of records and of points.
 * Each record has the nodes since the previous one, owner, label, weight, the number of occurrences if
 * `counted`, and the number of points. Each point has the steps since the previous one, and the weight.
 */
export function decodeRecords(base64: string, counted = false): Records {
  const text = atob(base64);
  let at = 0;
  const next = (): number => {
    let value = 0;
    for (let factor = 1; ; factor *= 128) {
      const byte = text.charCodeAt(at++);
      value += (byte & 127) * factor;
      if (byte < 128) return value;
    }
  };
  const length = text.length > 0 ? next() : 0;
  const points = text.length > 0 ? next() : 0;
  const records: Records = {
    length,
    node: new Int32Array(length),
    owner: new Int32Array(length),
    label: new Int32Array(length),
    count: new Float64Array(length),
    weight: new Float64Array(length),
    start: new Int32Array(length + 1),
    step: new Int32Array(points),
    part: new Float64Array(points),
  };
  let node = 0;
  let point = 0;
  for (let record = 0; record < length; record++) {
    node += next();
    records.node[record] = node;
    records.owner[record] = next();
    records.label[record] = next();
    records.weight[record] = next();
    records.count[record] = counted ? next() : (records.weight[record] as number);
    records.start[record] = point;
    let step = 0;
    for (let left = next(); left > 0; left--, point++) {
      step += next();
      records.step[point] = step;
      records.part[point] = next();
    }
  }
  records.start[length] = point;
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
