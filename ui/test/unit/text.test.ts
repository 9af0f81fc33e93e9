// Numbers as text, and the view in the address.

import assert from "node:assert/strict";
import { test } from "node:test";
import { bytes, digits, duration, inUnit, moment, nanos, percent, short, whole } from "../../src/format.ts";
import { fromFragment, START, toFragment } from "../../src/link.ts";

function check(actual: string, expected: string): void {
  assert.equal(actual.replaceAll("\u202f", " "), expected);
}

test("numbers keep three digits", () => {
  check(digits(0), "0");
  check(digits(0.21), "0.210");
  check(digits(25.44), "25.4");
  check(digits(1234.6), "1,235");
  check(whole(2090400), "2,090,400");
  check(short(71_500), "71.5k");
  check(short(0.5), "0.5");
});

test("shares are never rounded away", () => {
  check(percent(0), "0 %");
  check(percent(0.000001), "<0.01 %");
  check(percent(0.0123), "1.23 %");
  check(percent(0.5), "50.0 %");
  check(percent(1), "100 %");
});

test("times and sizes choose their unit", () => {
  check(nanos(950), "950 ns");
  check(nanos(25_400_000), "25.4 ms");
  check(bytes(2396), "2.34 KiB");
  check(duration(30), "30 s");
  check(duration(125), "2 min 5 s");
  check(moment(1_763_640_000_000_000_000), "2025-11-20 12:00:00 UTC");
  assert.deepEqual(inUnit(69_680.4, "per-second"), ["69,680", "/s"]);
  assert.deepEqual(inUnit(3000, "nanoseconds"), ["3.00", "µs"]);
});

test("a view survives in the address", () => {
  const choice = {
    search: "a&b=#",
    zoom: "12.3",
    flame: true,
    openAll: false,
    opened: [4, 12],
    owner: "queue:a b:c (v)",
    by: "role",
    state: "idle",
    range: { from: 3, to: 7 },
    against: { from: 9, to: 12 },
    around: "m:f/1",
    view: "tree" as const,
    shares: true,
    edits: [{ kind: "focus" as const, name: "a:b/1" }, { kind: "hide" as const, name: "c&d" }],
  };
  assert.deepEqual(fromFragment(`#${toFragment(choice, 0.05)}`, 0.05), choice);
  assert.deepEqual(fromFragment("", 0.05), START);
  assert.match(toFragment(choice, 0.05), /&time=0.15-0.35&against=0.45-0.6&/);
  assert.equal(toFragment(START, 0.05), "");
  assert.deepEqual(fromFragment("#zoom=<x>&opened=1.x.2&time=5-5&against=1-2", 0.05), { ...START, opened: [1, 2] });
});
