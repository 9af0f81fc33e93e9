// The script inside an SVG flame graph: a click zooms, a search marks. It works on the elements that
// crates/web `svg.rs` wrote: `#frames > g`, each with a title (name in its first line), a rectangle and
// perhaps a text.

import { shortened } from "./flame/label.ts";

interface Frame {
  group: SVGGElement;
  box: SVGRectElement;
  text: SVGTextElement | null;
  name: string;
  left: number;
  width: number;
  level: number;
}

export {};

const CHARACTER = 6.7;
const svg = document.documentElement as unknown as SVGSVGElement;
const full = svg.viewBox.baseVal.width;
const frames = Array.from(document.querySelectorAll<SVGGElement>("#frames > g"), readFrame);
const matched = document.getElementById("matched");

function readFrame(group: SVGGElement): Frame {
  const box = group.querySelector("rect") as SVGRectElement;
  const number = (name: string): number => Number(box.getAttribute(name));
  return {
    group,
    box,
    text: group.querySelector("text"),
    name: (group.querySelector("title")?.textContent ?? "").split("\n")[0] ?? "",
    left: number("x"),
    width: number("width"),
    level: -number("y"),
  };
}

function zoom(target: Frame): void {
  const scale = full / target.width;
  for (const frame of frames) {
    const end = frame.left + frame.width;
    const covers = frame.left <= target.left + 0.01 && end >= target.left + target.width - 0.01;
    const below = frame.level < target.level && covers;
    const inside = frame.left >= target.left - 0.01 && end <= target.left + target.width + 0.01;
    const shown = below || (frame.level >= target.level && inside);
    frame.group.style.display = shown ? "" : "none";
    frame.group.classList.toggle("below", below);
    if (below) place(frame, 0, full);
    else if (shown) place(frame, (frame.left - target.left) * scale, frame.width * scale);
  }
}

function place(frame: Frame, left: number, width: number): void {
  frame.box.setAttribute("x", left.toFixed(2));
  frame.box.setAttribute("width", width.toFixed(2));
  const room = Math.floor((width - 6) / CHARACTER);
  if (!frame.text && room < 3) return;
  frame.text ??= addText(frame);
  frame.text.setAttribute("x", (left + 3).toFixed(2));
  frame.text.textContent = room < 3 ? "" : shortened(frame.name, room);
}

function addText(frame: Frame): SVGTextElement {
  const text = document.createElementNS("http://www.w3.org/2000/svg", "text");
  text.setAttribute("y", String(Number(frame.box.getAttribute("y")) + 12));
  frame.group.append(text);
  return text;
}

function search(): void {
  const typed = prompt("Search functions (regular expression)", "");
  if (typed === null || !matched) return;
  let pattern: RegExp | null = null;
  try {
    pattern = typed === "" ? null : new RegExp(typed, "i");
  } catch {
    matched.textContent = "not a regular expression";
    return;
  }
  const hits = frames.filter((frame) => {
    const hit = pattern !== null && pattern.test(frame.name);
    frame.group.classList.toggle("hit", hit);
    return hit;
  });
  matched.textContent = pattern ? `${((covered(hits) / full) * 100).toFixed(2)} % matched` : "";
}

/** Returns the width under all these frames; frames above one another count once. */
function covered(hits: Frame[]): number {
  let width = 0;
  let end = 0;
  for (const hit of hits.sort((one, other) => one.left - other.left || other.width - one.width)) {
    const right = hit.left + hit.width;
    if (right > end) width += right - Math.max(end, hit.left);
    end = Math.max(end, right);
  }
  return width;
}

function start(): void {
  for (const frame of frames) frame.group.addEventListener("click", () => zoom(frame));
  const onClick = (id: string, action: () => void): void =>
    document.getElementById(id)?.addEventListener("click", action);
  onClick("search", search);
  onClick("reset", () => {
    const [all] = frames;
    if (all) zoom(all);
  });
  addEventListener("keydown", (event) => {
    if (event.key !== "/") return;
    event.preventDefault();
    search();
  });
}

start();
