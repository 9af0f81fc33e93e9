// The view in the URL fragment, so that a link opens the sender's view.

import { type Edit, editOf } from "./flame/edits.ts";
import type { Range } from "./flame/records.ts";
import { seconds } from "./format.ts";

/** The reader's choice on the profile. A node is `origin.step`, see flame/view.ts. */
export interface Choice {
  /** Search expression; empty for none. */
  search: string;
  /** Node that fills the width; empty for all. */
  zoom: string;
  /** The root is at the bottom. */
  flame: boolean;
  /** Every recursion is open. */
  openAll: boolean;
  /** Runs that were opened one by one, by the number of their stack node. */
  opened: number[];
  /** Owner of the samples, and dimension by which the graph is grouped: see flame/owners.ts. */
  owner: string;
  by: string;
  /** For time off the CPU: `blocked`, `runnable`, `idle` or `all`; empty for the default. */
  state: string;
  /** Span of time in steps, and the span to compare it with. The address has seconds. */
  range: Range | null;
  against: Range | null;
  /** The function that is shown with its callers and callees; empty for none. */
  around: string;
  /** The kind of picture; empty for the graph. */
  view: "" | "tree" | "inverted";
  /** Changes of the stacks, in order: see flame/edits.ts. */
  edits: Edit[];
  /** Shares instead of costs per message. */
  shares: boolean;
}

const VIEWS = ["tree", "inverted"] as const;

export const START: Choice = {
  search: "",
  zoom: "",
  flame: false,
  openAll: false,
  opened: [],
  owner: "",
  by: "",
  state: "",
  range: null,
  against: null,
  around: "",
  view: "",
  edits: [],
  shares: false,
};

/** The choices that belong to one profile. */
export const OF_ONE_PROFILE = { zoom: "", opened: [], range: null, against: null } satisfies Partial<Choice>;

/** Writes the choice. A step of time is `step` seconds long. */
export function toFragment(choice: Choice, step: number): string {
  const parts = new URLSearchParams();
  if (choice.search) parts.set("search", choice.search);
  if (choice.zoom) parts.set("zoom", choice.zoom);
  if (choice.flame) parts.set("root", "bottom");
  if (choice.openAll) parts.set("recursion", "open");
  if (choice.opened.length > 0) parts.set("opened", choice.opened.join("."));
  if (choice.owner) parts.set("who", choice.owner);
  if (choice.by) parts.set("by", choice.by);
  if (choice.state) parts.set("state", choice.state);
  if (choice.range) parts.set("time", rangeText(choice.range, step));
  if (choice.against) parts.set("against", rangeText(choice.against, step));
  if (choice.around) parts.set("around", choice.around);
  if (choice.view) parts.set("view", choice.view);
  for (const { kind, name } of choice.edits) parts.append("edit", `${kind}:${name}`);
  if (choice.shares) parts.set("compare", "shares");
  return parts.toString();
}

/** Reads the choice. Spans of time are in seconds, and become steps of `step` seconds. */
export function fromFragment(fragment: string, step: number): Choice {
  const parts = new URLSearchParams(fragment.replace(/^#/, ""));
  const zoom = parts.get("zoom") ?? "";
  const range = rangeOf(parts.get("time"), step);
  const opened = (parts.get("opened") ?? "").split(".").filter((part) => /^\d+$/.test(part));
  return {
    search: parts.get("search") ?? "",
    zoom: /^\d+\.\d+$/.test(zoom) ? zoom : "",
    flame: parts.get("root") === "bottom",
    openAll: parts.get("recursion") === "open",
    opened: opened.map(Number),
    owner: parts.get("who") ?? "",
    by: parts.get("by") ?? "",
    state: parts.get("state") ?? "",
    range,
    against: range && rangeOf(parts.get("against"), step),
    around: parts.get("around") ?? "",
    view: VIEWS.find((view) => view === parts.get("view")) ?? "",
    edits: parts.getAll("edit").map(editOf).filter((edit) => edit !== null),
    shares: parts.get("compare") === "shares",
  };
}

function rangeText(range: Range, step: number): string {
  return `${seconds(range.from * step)}-${seconds(range.to * step)}`;
}

function rangeOf(text: string | null, step: number): Range | null {
  const found = /^(\d{1,7}(?:\.\d{1,3})?)-(\d{1,7}(?:\.\d{1,3})?)$/.exec(text ?? "");
  if (!found || step <= 0) return null;
  const [from, to] = [Number(found[1]), Number(found[2])].map((time) => Math.round(time / step)) as [number, number];
  return to > from ? { from, to } : null;
}

/** Writes the choice into the address. The browser's back button can undo a step. */
export function remember(choice: Choice, isStep: boolean, step: number): void {
  const fragment = toFragment(choice, step);
  if (fragment === location.hash.replace(/^#/, "")) return;
  const url = fragment ? `#${fragment}` : location.pathname + location.search;
  if (isStep) history.pushState(null, "", url);
  else history.replaceState(null, "", url);
}
