// Charts with the same horizontal axis: they have one cursor and one span. And the box beside the pointer.

import { h } from "../dom.ts";
import type { AxisData } from "../blocks/data.ts";
import type { Reading } from "./items.ts";
import type { Span } from "./scale.ts";

interface Member {
  /** Shows the values at a place of the axis; null for none. */
  point(at: number | null): void;
  /** Shows a span of the axis; null for the whole. */
  zoom(span: Span | null): void;
}

const groups = new Map<string, Group>();

export class Group {
  span: Span | null = null;
  private readonly members = new Set<Member>();

  /** Returns the group of an axis. Axes without a label are alone. */
  static of(axis: AxisData): Group {
    if (!axis.label) return new Group();
    const key = `${axis.measure} ${axis.label}`;
    const known = groups.get(key) ?? new Group();
    groups.set(key, known);
    return known;
  }

  join(member: Member): void {
    this.members.add(member);
  }

  leave(member: Member): void {
    this.members.delete(member);
  }

  point(at: number | null): void {
    for (const member of this.members) member.point(at);
  }

  zoom(span: Span | null): void {
    this.span = span;
    for (const member of this.members) member.zoom(span);
  }
}

const box = h("div", { class: "chart-tooltip", role: "tooltip", hidden: true });

/** Shows a heading and values beside a place of the window. */
export function showTooltip(heading: string, values: Reading[], hint: string, x: number, y: number): void {
  if (!box.isConnected) document.body.append(box);
  const rows = values.map(({ hue, name, text }) =>
    h("tr", {}, h("th", { scope: "row" }, h("i", { class: "chip", "data-hue": hue }), name), h("td", {}, text)),
  );
  const lines = heading.split("\n").map((line, at) => h("div", { class: at === 0 ? "tooltip-name" : "" }, line));
  box.replaceChildren(...lines, ...(rows.length > 0 ? [h("table", {}, ...rows)] : []), hint ? h("div", { class: "tooltip-hint" }, hint) : "");
  box.hidden = false;
  const { width, height } = box.getBoundingClientRect();
  const left = x + 16 + width > innerWidth - 4 ? x - width - 14 : x + 16;
  const top = y + 18 + height > innerHeight ? y - height - 14 : y + 18;
  box.style.left = `${Math.max(4, left)}px`;
  box.style.top = `${Math.max(4, top)}px`;
}

export function hideTooltip(): void {
  box.hidden = true;
}
