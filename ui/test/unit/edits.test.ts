// Changes of the stacks by a reader, and names that are cut.

import assert from "node:assert/strict";
import { test } from "node:test";
import { editOf, type EditKind, edited } from "../../src/flame/edits.ts";
import { functionsOf } from "../../src/flame/functions.ts";
import { functionStart, shortened } from "../../src/flame/label.ts";
import type { Stacks } from "../../src/flame/stacks.ts";
import { clockMarks, secondMarks, strongest } from "../../src/scale.ts";
import { decodeStacks } from "./trees.ts";

const NAMES = ["a", "f", "g", "b"];

// a;f;g 5, a;f;b;f 4, a;g 3, b;f 2
const STACKS = decodeStacks(
  { frame: [0, 1, 2, 3, 1, 2, 3, 1], climb: [0, 0, 0, 1, 0, 3, 2, 0], self: [0, 0, 5, 0, 4, 3, 0, 2], "run-node": [], "run-length": [], "kind-node": [], "kind-number": [] },
  new Uint8Array(4),
);

function drawn(stacks: Stacks): string {
  const lines: string[] = [];
  const path: number[] = [];
  for (let node = 0; node < stacks.length; node++) {
    while (path.length > 0 && stacks.end[path[path.length - 1] as number] <= node) path.pop();
    lines.push(`${".".repeat(path.length)}${NAMES[stacks.frame[node]]} ${stacks.self[node]}/${stacks.total[node]}`);
    path.push(node);
  }
  return lines.join(" ");
}

function check(kind: EditKind, name: string, expected: string): void {
  assert.equal(drawn(edited(STACKS, kind, NAMES.indexOf(name))), expected, `${kind} ${name}`);
}

test("a function is shown alone, left out, or joined", () => {
  assert.equal(drawn(STACKS), "a 0/12 .f 0/9 ..g 5/5 ..b 0/4 ...f 4/4 .g 3/3 b 0/2 .f 2/2");
  check("focus", "f", "f 2/11 .g 5/5 .b 0/4 ..f 4/4");
  check("exclude", "g", "a 0/4 .f 0/4 ..b 0/4 ...f 4/4 b 0/2 .f 2/2");
  check("collapse", "f", "a 0/12 .f 9/9 .g 3/3 b 0/2 .f 2/2");
  check("recursion", "f", "a 0/12 .f 4/9 ..g 5/5 .g 3/3 b 0/2 .f 2/2");
  check("hide", "f", "a 0/12 .g 8/8 .b 4/4 b 2/2");
});

test("an edit in an address has a known kind and a name", () => {
  assert.deepEqual(editOf("hide:lists:map/2"), { kind: "hide", name: "lists:map/2" });
  for (const text of ["hide", "hide:", "toString:x", ":x", ""]) assert.equal(editOf(text), null);
});

test("functions below some nodes have the weight there", () => {
  const kinds = NAMES.map(() => "native" as const);
  const { frame, total } = functionsOf(STACKS, kinds, [3, 1].slice(1));
  assert.deepEqual(frame.map((it, row) => `${NAMES[it]} ${total[row]}`), ["f 9", "g 5", "b 4"]);
});

test("the function of a name is behind its module", () => {
  for (const [name, start] of [["lists:map/2", 6], ["'Elixir.A':f/1", 11], ["std::vector", 0], ["do_fsync", 0], ["a:-f/1-fun-0-/2", 2]] as const) {
    assert.equal(functionStart(name), start, name);
  }
});

test("the axis of the timeline has round seconds", () => {
  assert.deepEqual(secondMarks(10, 20), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  assert.deepEqual(secondMarks(100, 12), [0, 10, 20, 30, 40, 50, 60, 70, 80, 90]);
  assert.deepEqual(secondMarks(2, 10), [0, 1]);
});

test("the axis of a day has round times of the day", () => {
  const start = Date.UTC(2026, 10, 25, 22, 40, 10) / 1000;
  assert.deepEqual(clockMarks(start, 7200, 3), [[1190, "23:00"], [4790, "11-26"]]);
  assert.deepEqual(clockMarks(start, 60, 4), [[5, "22:40:15"], [20, "22:40:30"], [35, "22:40:45"], [50, "22:41:00"]]);
  assert.deepEqual(clockMarks(start, 7 * 86_400, 4).map(([, name]) => name), ["11-27", "11-29", "12-01"]);
});

test("a long name loses its module first", () => {
  const name = "rabbit_channel:handle/3";
  for (const [room, text] of [[23, name], [22, "…bbit_channel:handle/3"], [11, "…l:handle/3"], [10, "handle/3"], [8, "handle/3"], [7, "handle…"]] as const) {
    assert.equal(shortened(name, room), text, String(room));
  }
  assert.equal(shortened("std::vector", 6), "std::…");
});

test("one outlier does not stretch the scale of the timeline", () => {
  assert.equal(strongest([0, 3, 4, 5, 4000]), 5);
  assert.equal(strongest([0, 3, 4, 5]), 5);
  assert.equal(strongest([7]), 7);
  assert.equal(strongest([]), 1);
});
