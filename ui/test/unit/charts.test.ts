// Axes, thinning, and the values of items. No DOM.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { AxisData, MarkData } from "../../src/blocks/data.ts";
import { shadeOf } from "../../src/charts/draw.ts";
import { commandOf } from "../../src/charts/command.ts";
import { beyond, nearest, readings, tableOf } from "../../src/charts/items.ts";
import { Scale, thinned } from "../../src/charts/scale.ts";
import { written } from "../../src/measure.ts";

const names = (scale: Scale, wanted: number): string[] => scale.marks(wanted).map(([, name]) => name);
const axis = (measure: AxisData["measure"], more: Partial<AxisData> = {}): AxisData => ({ measure, scale: "linear", ...more });

test("axes have round marks with their unit", () => {
  assert.deepEqual(names(new Scale(axis("per-second", { from: 0 }), [79_400], 0, 100), 5), ["0", "20k/s", "40k/s", "60k/s", "80k/s"]);
  assert.deepEqual(names(new Scale(axis("nanoseconds", { from: 0, to: 4e9 }), [], 0, 100), 4), ["0", "1 s", "2 s", "3 s", "4 s"]);
  assert.deepEqual(names(new Scale(axis("nanoseconds", { from: 0, to: 3600e9 }), [], 0, 100), 6), ["0", "10 min", "20 min", "30 min", "40 min", "50 min", "60 min"]);
  assert.deepEqual(names(new Scale(axis("nanoseconds", { scale: "log" }), [2e6, 90e6], 0, 100), 5), ["2 ms", "5 ms", "10 ms", "20 ms", "50 ms", "100 ms"]);
  assert.deepEqual(names(new Scale(axis("bytes", { from: 0, to: 300_000 }), [], 0, 100), 6), ["0", "64 KiB", "128 KiB", "192 KiB", "256 KiB"]);
  assert.deepEqual(names(new Scale(axis("change", { scale: "log" }), [0.9, 1.1], 0, 100), 5), ["−10 %", "−5 %", "0 %", "+5 %", "+10 %"]);
  const bands = axis("things", { scale: "band", names: [[0, "a"], [1, "b"]] });
  assert.deepEqual(names(new Scale(bands, [], 0, 100), 0), ["a", "b"]);
  assert.equal(new Scale(bands, [], 0, 100).place(1), 75);
});

test("a logarithmic axis begins each unit at 1, and nothing has a height", () => {
  assert.deepEqual(names(new Scale(axis("nanoseconds", { scale: "log" }), [1e5, 8e6], 0, 100), 4), ["100 µs", "200 µs", "500 µs", "1 ms", "2 ms", "5 ms", "10 ms"]);
  assert.deepEqual(names(new Scale(axis("share", { from: 0 }), [0, 0], 0, 100), 2), ["0 %", "0.5 %", "1 %"]);
});

test("absurd values have places", () => {
  for (const values of [[], [0], [NaN, Infinity], [1e19, 1e19], [-1, -1]]) {
    for (const scale of ["linear", "log"] as const) {
      const of = new Scale(axis("nanoseconds", { scale }), values, 0, 100);
      assert.ok([0, -1, 1e300].every((value) => Number.isFinite(of.place(value))), `${values}`);
      assert.ok(of.marks(5).length < 41);
    }
  }
});

test("a thinned line keeps the least and the greatest value of every pixel, and its gaps", () => {
  const x = Array.from({ length: 10_000 }, (_, at) => at);
  const y: (number | null)[] = x.map((at) => (at === 5_000 ? 99 : at === 7_777 ? null : Math.sin(at)));
  const scale = new Scale(axis("things"), x, 0, 300);
  const kept = thinned(x, y, scale, 300);
  assert.ok(kept.length <= 602, `${kept.length}`);
  assert.ok(kept.includes(5_000) && kept.includes(7_777));
  assert.deepEqual(kept, [...kept].sort((one, other) => one - other));
  assert.equal(thinned(x.slice(0, 600), y.slice(0, 600), scale, 300).length, 600);
});

test("shades go from nothing to the most", () => {
  assert.deepEqual([0, 0.05, 0.1, 0.95, 1].map((value) => shadeOf(value, 1)), [0, 0, 1, 9, 9]);
  assert.equal(shadeOf(0, 0), 0);
});

test("a cell has the command of its time", () => {
  const start = Date.UTC(2026, 10, 25, 4) / 1000;
  const command = { words: "rabbitscope flamegraph w --node a", file: "flamegraph-a", rows: [start, start + 7200] };
  const mark: MarkData = { kind: "cells", name: "CPU", hue: "heat", x: [0, 3590e9], to: [10e9, 3600e9], y: [0, 1], command };
  const of = (index: number): string => commandOf({ mark, index, x: 0, y: 0 });
  assert.equal(of(0), "rabbitscope flamegraph w --node a --from 2026-11-25T04:00:00Z --to 2026-11-25T04:00:10Z -o flamegraph-a-20261125T040000Z.html");
  assert.match(of(1), /--from 2026-11-25T06:59:50Z --to 2026-11-25T07:00:00Z /);
  assert.equal(of(2), "");
});

test("values are written in their unit", () => {
  const check = (text: string, expected: string): void => assert.equal(text.replaceAll("\u202f", " "), expected);
  check(written(1_500_000, "nanoseconds"), "1.50 ms");
  check(written(51_234.4, "per-second"), "51,234/s");
  check(written(1.5, "cores"), "1.50 cores");
  check(written(1.0412, "change"), "+4.1 %");
  check(written(3.52, "change"), "×3.52");
});

test("items are found by place, and lines by their common places", () => {
  const line = (name: string, y: (number | null)[]): MarkData => ({ kind: "line", name, hue: 0, x: [0, 1e9, 2e9], y });
  const chart = { title: "t", x: axis("nanoseconds", { label: "time" }), y: axis("per-second"), marks: [line("a", [1, null, 3]), line("b", [4, 5, 6])] };
  assert.deepEqual(readings(chart.marks, 1e9, chart).map(({ text }) => text), ["–", "5/s"]);
  const plane = { x: new Scale(chart.x, [0, 2e9], 0, 100), y: new Scale(chart.y, [1, 6], 100, 0), left: 0, right: 100, top: 0, bottom: 100, most: 0 };
  assert.deepEqual(tableOf(chart, plane).rows[1]?.map(({ text }) => text), ["1 s", "–", "5/s"]);
  const item = (x: number, y: number) => ({ mark: chart.marks[0] as MarkData, index: 0, x, y });
  const items = [item(10, 10), item(12, 60), item(80, 10)];
  assert.equal(nearest(items, 78, 12), 2);
  assert.equal(nearest(items, 300, 300), -1);
  assert.deepEqual([beyond(items, 0, false), beyond(items, 1, true), beyond(items, -1, true)], [1, 0, 0]);
});
