// The panel around a flame graph: controls, path, graph. Holds the reader's choice and carries it to
// the parts and to the address.

import { h } from "../dom.ts";
import { Graph } from "./graph.ts";
import type { Model } from "./model.ts";
import { compile, findMatches, type Matches } from "./search.ts";
import { buildControls, type Controls } from "./controls.ts";
import { findNode, nameOfNode, pathTo, type View } from "./view.ts";
import { type Choice, fromFragment, remember, START } from "../link.ts";

export class FlamePanel {
  readonly element: HTMLElement;
  private readonly graph: Graph;
  private readonly controls: Controls;
  private readonly crumbs = h("nav", { class: "crumbs", "aria-label": "Path of the zoomed frame" });
  private choice: Choice = fromFragment(location.hash);
  private view: View;
  private zoomed = 0;
  private matches: Matches | null = null;

  /** `introduction` stands between the title and the controls. */
  constructor(
    private readonly model: Model,
    title: string,
    introduction: HTMLElement[],
  ) {
    this.view = this.model.view(this.choice);
    this.graph = new Graph(this.model, this.view, {
      zoomTo: (node) => this.choose({ zoom: nameOfNode(this.view, node) }, true),
      toggleRun: (node) => this.toggleRun(node),
    });
    this.controls = buildControls(this.model, {
      search: (text) => this.choose({ search: text }, false),
      turn: () => this.choose({ flame: !this.choice.flame }, false),
      openAll: () => this.choose({ openAll: !this.choice.openAll, opened: [] }, false),
      reset: () => this.choose(START, true),
    });
    this.element = h(
      "section",
      { class: "panel", "aria-labelledby": "profile-title" },
      h("h2", { id: "profile-title" }, title),
      ...introduction,
      this.controls.element,
      this.crumbs,
      this.graph.element,
      this.graph.said,
    );
    addEventListener("popstate", () => this.apply(fromFragment(location.hash)));
    addEventListener("keydown", (event) => this.key(event));
    this.apply(this.choice);
  }

  private choose(change: Partial<Choice>, isStep: boolean): void {
    const next = { ...this.choice, ...change };
    remember(next, isStep);
    this.apply(next);
  }

  private apply(next: Choice): void {
    const same =
      next.openAll === this.choice.openAll && next.opened.join() === this.choice.opened.join();
    if (!same) this.view = this.model.view(next);
    this.choice = next;
    this.zoomed = next.zoom ? findNode(this.view, next.zoom) : 0;
    this.search(next.search);
    this.graph.update(this.view, this.zoomed, next.flame, this.matches);
    this.controls.show(next, this.zoomed !== 0);
    this.showCrumbs();
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

  /** Finds a function that is named elsewhere on the page. */
  searchFrame(frame: number): void {
    this.choose({ search: this.model.searchFor(frame) }, true);
    this.element.scrollIntoView({ block: "start" });
  }

  private toggleRun(node: number): void {
    const source = this.view.source[node];
    if (this.choice.openAll || source < 0) return;
    const isOpen = this.choice.opened.includes(source);
    if (!isOpen && this.view.run[node] < 2) return;
    const opened = this.choice.opened.filter((kept) => kept !== source);
    if (!isOpen) opened.push(source);
    this.choose({ opened, zoom: isOpen ? `${source}.0` : this.choice.zoom }, false);
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
      else if (this.zoomed !== 0) this.choose({ zoom: "" }, true);
    } else if (event.key === "Enter" && this.controls.isSearch(event.target)) {
      this.graph.focus();
    }
  }
}
