// Panel around a flame graph: controls, path, graph. Holds the reader's choice and carries it to the
// parts and to the address.

import { h } from "../dom.ts";
import { amount, percent } from "../format.ts";
import { type Actions, Graph } from "./graph.ts";
import type { Model } from "./model.ts";
import type { Pair } from "./noise.ts";
import { compile, findMatches, type Matches } from "./search.ts";
import { buildControls, type Controls } from "./controls.ts";
import { type Sandwich, sandwich } from "./sandwich.ts";
import { findNode, nameOfNode, pathTo, type View } from "./view.ts";
import { type Choice, fromFragment, remember, START } from "../link.ts";

/** The receiver of the reader's choices. */
export interface Listener {
  /** Reacts to a new selection of samples. */
  selected(choice: Choice): void;
  /** Reacts to a search. */
  searched(text: string): void;
  /** Reacts to the function in focus; -1 for none. */
  focused(frame: number): void;
}

const NO_LISTENER: Listener = { selected: () => {}, searched: () => {}, focused: () => {} };

export class FlamePanel {
  readonly element: HTMLElement;
  private readonly graph: Graph;
  /** Created at the first use. */
  private graphsAround: { callers: Graph; callees: Graph } | null = null;
  private readonly controls: Controls;
  private readonly crumbs = h("nav", { class: "crumbs", "aria-label": "Path of the zoomed frame" });
  private readonly single: HTMLElement;
  private readonly double = h("div", { class: "sandwich", hidden: true });
  private readonly centre = h("p", { class: "centre" });
  /** Seconds of a step of time. */
  private readonly step: number;
  private choice: Choice;
  private view: View;
  private zoomed = 0;
  private matches: Matches | null = null;

  /** Creates the panel. `beside` stands beside the graph where there is room, `below` after its legend. */
  constructor(
    private readonly model: Model,
    title: string,
    beside: HTMLElement | null,
    below: HTMLElement[],
    private readonly listener: Listener = NO_LISTENER,
  ) {
    this.step = (model.owners?.data["step-nanos"] ?? 0) / 1e9;
    this.choice = fromFragment(location.hash, this.step);
    this.model.select(this.choice);
    this.view = this.model.view(this.choice);
    this.graph = new Graph(this.model, this.view, {
      zoomTo: (node) => this.choose({ zoom: nameOfNode(this.view, node) }, true),
      toggleRun: (node) => this.toggleRun(node),
      centre: (node) => this.around(this.view.frame[node]),
    });
    this.controls = buildControls(this.model, {
      search: (text) => this.choose({ search: text }, false),
      turn: () => this.choose({ flame: !this.choice.flame }, false),
      openAll: () => this.choose({ openAll: !this.choice.openAll, opened: [] }, false),
      around: () => this.around(this.choice.around ? -1 : this.view.frame[this.zoomed]),
      reset: () => this.choose(START, true),
    });
    this.single = h("div", {}, this.graph.element, this.crumbs, this.graph.said);
    this.element = this.build(title, beside, below);
    addEventListener("popstate", () => this.apply(fromFragment(location.hash, this.step)));
    addEventListener("keydown", (event) => this.key(event));
    this.apply(this.choice);
    this.listener.selected(this.choice);
  }

  private build(title: string, beside: HTMLElement | null, below: HTMLElement[]): HTMLElement {
    const { search, buttons, legend } = this.controls;
    return h(
      "section",
      { class: "panel where", "aria-labelledby": "profile-title" },
      h("div", { class: "toolbar where-head" }, h("h2", { id: "profile-title" }, title), search, buttons),
      h("div", { class: "where-body" }, h("div", { class: "pictures" }, this.single, this.double, legend), beside),
      ...below,
    );
  }

  /** Applies a choice. The browser's back button undoes a step. */
  choose(change: Partial<Choice>, isStep: boolean): void {
    const next = { ...this.choice, ...change };
    remember(next, isStep, this.step);
    this.apply(next);
  }

  private apply(next: Choice): void {
    const selection = (choice: Choice): string =>
      JSON.stringify([choice.owner, choice.by, choice.state, choice.range, choice.against]);
    const isOther = selection(next) !== selection(this.choice);
    const same =
      next.openAll === this.choice.openAll && next.opened.join() === this.choice.opened.join();
    if (isOther) this.model.select(next);
    if (isOther || !same) this.view = this.model.view(next);
    this.choice = next;
    this.zoomed = next.zoom ? findNode(this.view, next.zoom) : 0;
    this.search(next.search);
    this.showGraphs();
    this.controls.show(next, this.zoomed !== 0);
    this.showCrumbs();
    if (isOther) {
      this.controls.selected();
      this.listener.selected(next);
    }
    this.listener.searched(next.search);
    this.listener.focused(this.focus());
  }

  /** Returns the function between its callers and callees, the zoomed one, or the only match of a search. */
  private focus(): number {
    if (this.choice.around) return this.model.names.indexOf(this.choice.around);
    if (this.zoomed !== 0) return this.view.frame[this.zoomed];
    return this.matches?.functions === 1 ? this.matches.frames.indexOf(1) : -1;
  }

  private showGraphs(): void {
    const frame = this.choice.around ? this.model.names.indexOf(this.choice.around) : -1;
    this.single.hidden = frame >= 0;
    this.double.hidden = frame < 0;
    if (frame < 0) {
      this.graph.update(this.view, this.zoomed, this.choice.flame, this.matches);
      return;
    }
    const made = sandwich(this.model.stacks, frame);
    const { callers, callees } = made;
    this.centre.replaceChildren(h("b", {}, this.choice.around), this.shareAround(made));
    this.graphsAround ??= this.buildAround();
    this.graphsAround.callers.update(callers, 0, true, this.matches);
    this.graphsAround.callees.update(callees, 0, false, this.matches);
  }

  private shareAround({ total, sides, isRecursive }: Sandwich): string {
    const { sideTotals, unit } = this.model;
    const once = isRecursive ? "; it calls itself: a sample counts once, from the outermost call on" : "";
    if (sideTotals) return ` in ${this.model.changeSentence(sides as Pair, sideTotals)}${once}`;
    const share = percent(this.model.total > 0 ? total / this.model.total : 0);
    return ` in ${share} of all, ${amount(total, unit)}${once}`;
  }

  /** Builds the graphs around a function, in which every click leads to another function. */
  private buildAround(): { callers: Graph; callees: Graph } {
    const graph = (): Graph => {
      const centre = (node: number): void => this.around(made.frameOf(node));
      const actions: Actions = { zoomTo: centre, toggleRun: () => {}, centre };
      const made: Graph = new Graph(this.model, this.view, actions);
      return made;
    };
    const [callers, callees] = [graph(), graph()];
    const title = (text: string): HTMLElement => h("h3", {}, text);
    this.double.append(title("Callers"), callers.element, this.centre, callees.element, title("Callees"));
    return { callers, callees };
  }

  private around(frame: number): void {
    this.choose({ around: frame < 0 ? "" : (this.model.names[frame] ?? "") }, true);
  }

  /** Shows a function from elsewhere on the page between its callers and callees. */
  showAround(frame: number): void {
    this.around(frame);
    this.element.scrollIntoView({ block: "start" });
  }

  private search(text: string): void {
    this.matches = null;
    if (text === "") {
      this.controls.say("", false);
      return;
    }
    const pattern = compile(text);
    if (typeof pattern === "string") {
      this.controls.say(pattern, true);
      return;
    }
    this.matches = findMatches(this.model.names, pattern);
    this.controls.say(this.model.found(this.view, this.zoomed, this.matches), false);
  }

  /** Searches a function from elsewhere on the page. */
  searchFrame(frame: number): void {
    this.choose({ search: this.model.searchFor(frame), around: "" }, true);
    this.element.scrollIntoView({ block: "start" });
  }

  private toggleRun(node: number): void {
    const origin = this.view.origin[node];
    if (this.choice.openAll || origin < 0) return;
    const isOpen = this.choice.opened.includes(origin);
    if (!isOpen && this.view.run[node] < 2) return;
    const opened = this.choice.opened.filter((kept) => kept !== origin);
    if (!isOpen) opened.push(origin);
    this.choose({ opened, zoom: isOpen ? `${origin}.0` : this.choice.zoom }, false);
  }

  private showCrumbs(): void {
    const path = this.zoomed === 0 ? [] : pathTo(this.view, this.zoomed);
    this.crumbs.hidden = path.length === 0;
    const shown = path.length > 9 ? [...path.slice(0, 3), -1, ...path.slice(-5)] : path;
    this.crumbs.replaceChildren(...shown.map((node, at) => this.crumb(node, at === shown.length - 1)));
  }

  private crumb(node: number, isLast: boolean): HTMLElement {
    if (node < 0) return h("span", { class: "crumb" }, "…");
    const label = this.model.label(this.view, node);
    if (isLast) return h("span", { class: "crumb", "aria-current": "location" }, label);
    const zoom = (): void => this.choose({ zoom: nameOfNode(this.view, node) }, true);
    return h("button", { class: "crumb", type: "button", click: zoom }, label);
  }

  private key(event: KeyboardEvent): void {
    const inField = event.target instanceof HTMLElement && event.target.matches("input, select");
    if (event.key === "/" && !inField) {
      event.preventDefault();
      this.controls.focusSearch();
    } else if (event.key === "Escape") {
      if (this.choice.search) this.choose({ search: "" }, false);
      else if (this.choice.around) this.choose({ around: "" }, true);
      else if (this.zoomed !== 0) this.choose({ zoom: "" }, true);
    } else if (event.key === "Enter" && this.controls.isSearch(event.target)) {
      this.graph.focus();
    }
  }
}
