// The view in the URL fragment, so that a link shows what its sender saw.

/** What a reader chose on the profile. A node is `source.step`, see flame/view.ts. */
export interface Choice {
  /** Search expression; empty for none. */
  search: string;
  /** The node that fills the width; empty for all. */
  zoom: string;
  /** Root at the bottom. */
  flame: boolean;
  /** Every recursion open. */
  openAll: boolean;
  /** Runs that were opened one by one, by the number of their stack node. */
  opened: number[];
}

export const START: Choice = { search: "", zoom: "", flame: false, openAll: false, opened: [] };

export function toFragment(choice: Choice): string {
  const parts = new URLSearchParams();
  if (choice.search) parts.set("search", choice.search);
  if (choice.zoom) parts.set("zoom", choice.zoom);
  if (choice.flame) parts.set("root", "bottom");
  if (choice.openAll) parts.set("recursion", "open");
  if (choice.opened.length > 0) parts.set("opened", choice.opened.join("."));
  return parts.toString();
}

export function fromFragment(fragment: string): Choice {
  const parts = new URLSearchParams(fragment.replace(/^#/, ""));
  const zoom = parts.get("zoom") ?? "";
  const opened = (parts.get("opened") ?? "").split(".").filter((part) => /^\d+$/.test(part));
  return {
    search: parts.get("search") ?? "",
    zoom: /^\d+\.\d+$/.test(zoom) ? zoom : "",
    flame: parts.get("root") === "bottom",
    openAll: parts.get("recursion") === "open",
    opened: opened.map(Number),
  };
}

/** Writes the choice into the address; a new zoom can be undone by the browser's back button. */
export function remember(choice: Choice, isStep: boolean): void {
  const fragment = toFragment(choice);
  if (fragment === location.hash.replace(/^#/, "")) return;
  const url = fragment ? `#${fragment}` : location.pathname + location.search;
  if (isStep) history.pushState(null, "", url);
  else history.replaceState(null, "", url);
}
