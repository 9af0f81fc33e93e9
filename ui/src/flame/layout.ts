// Places of nodes: rows of nodes with their left edge and width. No drawing.

import type { View } from "./view.ts";

/** Nodes of one depth, from left to right. Edges and widths are shares of the full width. */
export interface Row {
  node: number[];
  left: number[];
  width: number[];
}

/** Orders siblings that come heaviest first. */
export type Arrange = (view: View, siblings: number[]) => number[];

/**
 * Returns rows from the root down. The zoomed node and everything above it fill the width. Nodes narrower
 * than `narrowest` are left out together with their subtrees.
 */
export function layOut(view: View, zoomed: number, narrowest: number, arrange: Arrange = (_, siblings) => siblings): Row[] {
  const rows: Row[] = [];
  for (let node = zoomed; node >= 0; node = view.parent[node]) {
    rows.unshift({ node: [node], left: [0], width: [1] });
  }
  const whole = view.total[zoomed];
  let above = rows[rows.length - 1];
  while (whole > 0) {
    const row = rowBelow(view, above, whole, narrowest, arrange);
    if (row.node.length === 0) break;
    rows.push(row);
    above = row;
  }
  return rows;
}

function rowBelow(view: View, above: Row, whole: number, narrowest: number, arrange: Arrange): Row {
  const row: Row = { node: [], left: [], width: [] };
  above.node.forEach((parent, at) => {
    let left = above.left[at];
    const [from, to] = view.children(parent);
    const seen: number[] = [];
    // Children are in order of weight: all that follow are narrower still.
    for (let child = from; child < to && view.total[child] / whole >= narrowest; child++) seen.push(child);
    for (const child of arrange(view, seen)) {
      const width = view.total[child] / whole;
      row.node.push(child);
      row.left.push(left);
      row.width.push(width);
      left += width;
    }
  });
  return row;
}

/** Returns the index of the node of `row` that covers `share` of the width, or -1. */
export function indexAt(row: Row, share: number): number {
  let low = 0;
  let high = row.left.length - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    if (row.left[middle] > share) high = middle - 1;
    else if (row.left[middle] + row.width[middle] <= share) low = middle + 1;
    else return middle;
  }
  return -1;
}
