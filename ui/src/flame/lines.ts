// The lines of one function, out of those of all functions. Arithmetic only.

import type { LineColumns } from "../wire.ts";

export interface LineRow {
  file: string;
  /** Line number; 0 for no line. */
  line: number;
  own: number;
  total: number;
}

/** Returns the lines in the order of the source; rows without a line are last. */
export function linesOf(columns: LineColumns, frame: number): LineRow[] {
  const rows: LineRow[] = [];
  columns.frame.forEach((its, row) => {
    if (its !== frame) return;
    const line = columns.line[row] as number;
    const file = line > 0 ? (columns.files[columns.file[row] as number] as string) : "";
    rows.push({ file, line, own: columns.own[row] as number, total: columns.total[row] as number });
  });
  return rows;
}

/** Returns the `most` heaviest rows in their present order. */
export function heaviest(rows: LineRow[], most: number): LineRow[] {
  const byWeight = [...rows].sort((left, right) => right.total - left.total);
  const kept = new Set(byWeight.slice(0, most));
  return rows.filter((row) => kept.has(row));
}
