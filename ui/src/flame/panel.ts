// Panel around the pictures of the stacks: controls, path, chips. Holds the reader's choice and carries it to the parts
// and to the address.

import { h } from "../dom.ts";
import type { Model } from "./model.ts";
import { compile, findMatches, type Matches } from "./search.ts";
import { chipsOf } from "./chips.ts";
import { buildControls, type Controls } from "./controls.ts";
import { openFrameMenu } from "./frame-menu.ts";
import { Pictures } from "./pictures.ts";
import { findNode, nameOfNode, pathTo, type View } from "./view.ts";
import { type Choice, fromFragment, remember, START } from "../link.ts";

/** The receiver of the reader's choices. */
export interface Listener {
  /** Reacts to a new selection of samples. */
  selected(choice: Choice): void;
  /** Reacts to a new selection or zoom: the zoomed part, by its stack nodes; null for the whole selection. */
  zoomed(part: { tops: number[]; total: number; name: string } | null): void;
  /** Reacts to a search. */
  searched(text: string): void;
  /** Reacts to the function in focus; -1 for none. */
  focused(frame: number): void;
}

const NO_LISTENER: Listener = { selected: () => {}, zoomed: () => {}, searched: () => {}, focused: () => {} };

export class FlamePanel {
  readonly element: HTMLElement;
  private readonly pictures: Pictures;
  private readonly controls: Controls;
  private readonly crumbs = h("nav", { class: "crumbs", "aria-label": "Path of the zoomed frame" });
  private readonly chips = h("div", { class: "filter-chips", role: "group", "aria-label": "What the pictures show" });
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
    this.restrict(this.choice);
    this.view = this.model.view(this.choice);
    this.pictures = this.buildPictures();
    this.controls = buildControls(this.model, {
      search: (text) => this.choose({ search: text }, false),
      turn: () => this.choose({ flame: !this.choice.flame }, false),
      openAll: () => this.choose({ openAll: !this.choice.openAll, opened: [] }, false),
      around: () => this.around(this.choice.around ? -1 : this.view.frame[this.zoomed]),
      view: (view) => this.choose({ view, around: "" }, true),
      shares: (shares) => this.choose({ shares }, true),
      reset: () => this.choose(START, true),
    });
    this.element = this.build(title, beside, below);
    addEventListener("popstate", () => this.apply(fromFragment(location.hash, this.step)));
    addEventListener("keydown", (event) => this.key(event));
    this.apply(this.choice);
    this.selected();
  }

  private buildPictures(): Pictures {
    const menu = (frame: number, x: number, y: number, origin: HTMLElement): void => {
      const name = this.model.names[frame];
      if (name !== undefined) openFrameMenu(name, this.choice, (change) => this.choose(change, true), { x, y, origin });
    };
    return new Pictures(
      this.model,
      this.view,
      {
        zoomTo: (node) => this.choose({ zoom: nameOfNode(this.view, node) }, true),
        toggleRun: (node) => this.toggleRun(node),
        centre: (node) => this.around(this.view.frame[node]),
        menu: (node, ...place) => menu(this.view.frame[node], ...place),
      },
      { around: (frame) => this.around(frame), menu },
    );
  }

  private build(title: string, beside: HTMLElement | null, below: HTMLElement[]): HTMLElement {
    const { search, buttons, legend } = this.controls;
    return h(
      "section",
      { class: "panel where", "aria-labelledby": "profile-title" },
      h("div", { class: "toolbar where-head" }, h("h2", { id: "profile-title" }, title), search, buttons),
      h("div", { class: "where-body" }, h("div", { class: "pictures" }, this.pictures.element, this.crumbs, this.chips, legend), beside),
      ...below,
    );
  }

  /** Applies a choice. The browser's back button undoes a step. */
  choose(change: Partial<Choice>, isStep: boolean): void {
    const next = { ...this.choice, ...change };
    remember(next, isStep, this.step);
    this.apply(next);
  }

  private restrict(choice: Choice): void {
    this.model.select(choice);
    this.model.edit(choice.edits);
  }

  private apply(next: Choice): void {
    const selection = ({ owner, by, state, range, against, edits, shares }: Choice): string =>
      JSON.stringify([owner, by, state, range, against, edits, shares]);
    const isOther = selection(next) !== selection(this.choice);
    const same =
      next.openAll === this.choice.openAll && next.opened.join() === this.choice.opened.join();
    const zoomed = this.choice.zoom;
    if (isOther) this.restrict(next);
    if (isOther || !same) this.view = this.model.view(next);
    this.choice = next;
    this.zoomed = next.zoom ? findNode(this.view, next.zoom) : 0;
    this.search(next.search);
    this.pictures.show(this.view, this.zoomed, next, this.matches);
    this.controls.show(next, this.zoomed !== 0);
    this.showCrumbs();
    this.showChips();
    if (isOther) {
      this.controls.selected();
      this.selected();
    } else if (zoomed !== next.zoom) this.partChanged();
    this.listener.searched(next.search);
    this.listener.focused(this.focus());
  }

  private selected(): void {
    this.listener.selected(this.choice);
    this.partChanged();
  }

  private partChanged(): void {
    const { view, zoomed } = this;
    const part = { tops: view.members(zoomed), total: view.total[zoomed], name: this.model.label(view, zoomed) };
    this.listener.zoomed(zoomed === 0 ? null : part);
  }

  /** Returns the function between its callers and callees, the zoomed one, or the only match of a search. */
  private focus(): number {
    if (this.choice.around) return this.model.names.indexOf(this.choice.around);
    if (this.zoomed !== 0) return this.view.frame[this.zoomed];
    return this.matches?.functions === 1 ? this.matches.frames.indexOf(1) : -1;
  }

  private around(frame: number): void {
    this.choose({ around: frame < 0 ? "" : (this.model.names[frame] ?? "") }, true);
  }

  /** Shows a function from elsewhere on the page between its callers and callees. */
  showAround(frame: number): void {
    this.around(frame);
    this.element.scrollIntoView({ block: "nearest" });
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

  /** Searches a function from elsewhere on the page; a second time, removes the search. */
  searchFrame(frame: number): void {
    const search = this.model.searchFor(frame);
    this.choose({ search: this.choice.search === search ? "" : search, around: "" }, true);
    this.element.scrollIntoView({ block: "nearest" });
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

  private showChips(): void {
    const hasFocus = this.chips.contains(document.activeElement);
    this.chips.replaceChildren(...chipsOf(this.choice, this.model, (change) => this.choose(change, true)));
    this.chips.hidden = this.chips.childElementCount === 0;
    if (hasFocus) this.pictures.graph.focus();
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
      this.pictures.graph.focus();
    }
  }
}
