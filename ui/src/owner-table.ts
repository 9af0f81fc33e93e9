// The owners of the samples: a table by role, queue, channel …, which filters and groups the graph.

import { h } from "./dom.ts";
import { EVERYTHING, type Owners, type Selection, type Share } from "./flame/owners.ts";
import { whole } from "./format.ts";
import { numberCell } from "./table.ts";
import { Toolbar } from "./toolbar.ts";

const FIRST_ROWS = 12;

const TITLES: Record<string, string> = {
  role: "Roles",
  queue: "Queues",
  client: "Clients",
  channel: "Channels",
  connection: "Connections",
  vhost: "Virtual hosts",
  process: "Processes",
  thread: "Threads",
};

const titleOf = (dimension: string): string => TITLES[dimension] ?? dimension;

export class OwnerTable {
  readonly element: HTMLElement;
  private dimension = "";
  private showsAll = false;
  private selection: Selection = EVERYTHING;
  private readonly body = h("tbody");
  private readonly box = h("div");
  private tabs: [string, HTMLElement][] = [];
  private readonly bar = new Toolbar("Owners", "buttons");
  private readonly filter = h("div", { class: "owner-filter" });
  private readonly group: HTMLSelectElement;
  private readonly more = h("button", { type: "button", class: "more", click: () => this.showAll() });

  constructor(
    private readonly owners: Owners,
    private readonly unit: string,
    private readonly choose: (change: Partial<Selection>) => void,
  ) {
    this.group = h("select", { "aria-label": "Group the graph by", change: () => choose({ by: this.group.value }) });
    this.box.append(h("table", { class: "functions owners" }, this.heads(), this.body));
    this.element = h(
      "section",
      { class: "panel", "aria-labelledby": "owners-title" },
      h("h2", { id: "owners-title" }, "Owners"),
      h("div", { class: "toolbar" }, this.bar.element, this.group),
      this.filter,
      this.box,
      this.more,
    );
    this.load();
  }

  /** Offers the dimensions of another profile. */
  load(): void {
    const dimensions = this.owners.dimensions();
    this.element.hidden = dimensions.length === 0;
    if (this.tabs.map(([name]) => name).join() !== dimensions.join()) this.offer(dimensions);
  }

  private offer(dimensions: string[]): void {
    if (!dimensions.includes(this.dimension)) this.dimension = dimensions.find((name) => name === "queue") ?? dimensions[0] ?? "";
    this.tabs = dimensions.map((name) => [name, this.tab(name)]);
    this.bar.fill(...this.tabs.map(([, tab]) => tab));
    const options = dimensions.map((name) => h("option", { value: name }, `Graph grouped by ${name}`));
    this.group.replaceChildren(h("option", { value: "" }, "Graph not grouped"), ...options);
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
    const focused = (document.activeElement as HTMLElement | null)?.dataset["owner"];
    for (const [name, tab] of this.tabs) tab.setAttribute("aria-pressed", String(name === this.dimension));
    const { owner } = this.selection;
    const clear = h("button", { type: "button", click: () => this.choose({ owner: "" }) }, "Show all owners");
    this.filter.replaceChildren(...(owner ? [h("span", {}, "Only ", h("b", {}, this.owners.nameOf(owner))), clear] : []));
    this.filter.hidden = !owner;
    this.body.replaceChildren(...this.rows());
    if (focused) this.button(focused)?.focus({ preventScroll: true });
  }

  private button(owner: string): HTMLElement | undefined {
    return [...this.body.querySelectorAll("button")].find((button) => button.dataset["owner"] === owner);
  }

  /** Returns the heaviest rows, one for the others that have a label, and those of rest and no process. */
  private rows(): HTMLElement[] {
    const shares = this.owners.shares(this.dimension, this.selection);
    const named = shares.filter((share) => share.owner.startsWith(`${this.dimension}:`));
    const others = shares.slice(named.length);
    const shown = this.showsAll ? named : named.slice(0, FIRST_ROWS);
    const hidden = named.slice(shown.length);
    this.more.hidden = hidden.length === 0;
    this.more.textContent = `Show all ${whole(named.length)}`;
    const sum = (of: Share[], key: "weight" | "processes"): number => of.reduce((all, share) => all + share[key], 0);
    const all = sum(shares, "weight");
    const rest = hidden.length > 0 && this.cells(`${whole(hidden.length)} more`, sum(hidden, "processes"), sum(hidden, "weight"), all);
    return [...shown.map((share) => this.row(share, all)), ...(rest ? [rest] : []), ...others.map((share) => this.row(share, all))];
  }

  private tab(name: string): HTMLElement {
    const click = (): void => {
      this.dimension = name;
      this.showsAll = false;
      this.body.replaceChildren();
      this.box.style.minHeight = "";
      this.draw();
    };
    return h("button", { type: "button", click }, titleOf(name));
  }

  private row(share: Share, all: number): HTMLElement {
    const isChosen = this.selection.owner === share.owner;
    const pick = h(
      "button",
      {
        type: "button",
        class: "owner-name",
        "data-owner": share.owner,
        "aria-pressed": String(isChosen),
        title: "Show only these samples",
        click: () => this.choose({ owner: isChosen ? "" : share.owner }),
      },
      share.label,
    );
    const row = this.cells(pick, share.processes, share.weight, all);
    row.classList.toggle("chosen", isChosen);
    return row;
  }

  private cells(name: HTMLElement | string, processes: number, weight: number, all: number): HTMLElement {
    return h(
      "tr",
      {},
      h("th", { scope: "row", class: "name" }, h("span", { class: "name-box" }, name)),
      h("td", { class: "number" }, processes > 0 && whole(processes)),
      numberCell(weight, all, this.unit),
    );
  }
}
