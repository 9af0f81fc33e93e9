// The owners of the samples: a table by role, queue, channel …, which filters and groups the graph.

import { h } from "./dom.ts";
import { EVERYTHING, type Owners, type Selection } from "./flame/owners.ts";
import { percent, whole } from "./format.ts";

const FIRST_ROWS = 12;

const TITLES: Record<string, string> = {
  role: "Roles",
  queue: "Queues",
  channel: "Channels",
  connection: "Connections",
  vhost: "Virtual hosts",
  process: "Processes",
  thread: "Threads",
};

const titleOf = (dimension: string): string => TITLES[dimension] ?? dimension;

export class OwnerTable {
  readonly element: HTMLElement;
  private dimension: string;
  private showsAll = false;
  private selection: Selection = EVERYTHING;
  private readonly body = h("tbody");
  private readonly box = h("div");
  private readonly tabs = h("div", { class: "buttons", role: "group", "aria-label": "Owners" });
  private readonly filter = h("div", { class: "owner-filter" });
  private readonly group: HTMLSelectElement;
  private readonly more = h("button", { type: "button", class: "more", click: () => this.showAll() });

  constructor(
    private readonly owners: Owners,
    private readonly choose: (change: Partial<Selection>) => void,
  ) {
    const dimensions = owners.dimensions();
    this.dimension = dimensions.find((name) => name === "queue") ?? (dimensions[0] as string);
    this.group = h(
      "select",
      { "aria-label": "Group the graph by", change: () => choose({ by: this.group.value }) },
      h("option", { value: "" }, "Graph not grouped"),
      ...dimensions.map((name) => h("option", { value: name }, `Graph grouped by ${name}`)),
    );
    this.box.append(h("table", { class: "functions owners" }, this.heads(), this.body));
    this.element = h(
      "section",
      { class: "panel", "aria-labelledby": "owners-title" },
      h("h2", { id: "owners-title" }, "Owners"),
      h("div", { class: "toolbar" }, this.tabs, this.group),
      this.filter,
      this.box,
      this.more,
    );
    this.draw();
  }

  private heads(): HTMLElement {
    const head = (name: string, number: boolean): HTMLElement =>
      h("th", { scope: "col", class: number ? "number" : "name" }, name);
    return h("thead", {}, h("tr", {}, head("Owner", false), head("Processes", true), head("Share", true)));
  }

  show(selection: Selection): void {
    this.selection = selection;
    this.group.value = selection.by;
    this.draw();
  }

  private showAll(): void {
    this.showsAll = true;
    this.draw();
  }

  private draw(): void {
    // Never shrinks, so that the content below it stays in place while the reader tries spans of time.
    this.box.style.minHeight = `${this.box.offsetHeight}px`;
    this.tabs.replaceChildren(...this.owners.dimensions().map((name) => this.tab(name)));
    const { owner } = this.selection;
    const clear = h("button", { type: "button", click: () => this.choose({ owner: "" }) }, "Show all owners");
    this.filter.replaceChildren(...(owner ? [h("span", {}, "Only ", h("b", {}, owner.replace(":", " "))), clear] : []));
    this.filter.hidden = !owner;
    const shares = this.owners.shares(this.dimension, this.selection);
    const shown = this.showsAll ? shares : shares.slice(0, FIRST_ROWS);
    const all = this.owners.weightBeside(this.dimension, this.selection);
    this.body.replaceChildren(...shown.map((share) => this.row(share.label, share.processes, share.weight, all)));
    this.more.hidden = shown.length === shares.length;
    this.more.textContent = `Show all ${whole(shares.length)}`;
  }

  private tab(name: string): HTMLElement {
    const click = (): void => {
      this.dimension = name;
      this.showsAll = false;
      this.body.replaceChildren();
      this.box.style.minHeight = "";
      this.draw();
    };
    const pressed = String(name === this.dimension);
    return h("button", { type: "button", "aria-pressed": pressed, click }, titleOf(name));
  }

  private row(label: string, processes: number, weight: number, all: number): HTMLElement {
    const key = `${this.dimension}:${label}`;
    const isChosen = this.selection.owner === key;
    const pick = h(
      "button",
      {
        type: "button",
        class: "owner-name",
        "aria-pressed": String(isChosen),
        title: "Show only these samples",
        click: () => this.choose({ owner: isChosen ? "" : key }),
      },
      label,
    );
    const share = all > 0 ? weight / all : 0;
    const bar = h("span", { class: "share-bar" });
    bar.style.width = `${(share * 100).toFixed(2)}%`;
    return h(
      "tr",
      { class: isChosen ? "chosen" : null },
      h("th", { scope: "row", class: "name" }, h("span", { class: "name-box" }, pick)),
      h("td", { class: "number" }, whole(processes)),
      h(
        "td",
        { class: "number" },
        h("span", { class: "share-track", "aria-hidden": "true" }, bar),
        h("span", { class: "share" }, percent(share)),
        h("span", { class: "count" }, whole(weight)),
      ),
    );
  }
}
