// Panel around the pictures of the stacks: controls, path, chips. Holds the reader's choice and carries it to the parts
// and to the address.

import { h, say } from "../dom.ts";
import type { Model } from "./model.ts";
import { compile, findMatches, type Matches } from "./search.ts";
import { chipsOf } from "./chips.ts";
import { buildControls, type Controls } from "./controls.ts";
import { openFrameMenu } from "./frame-menu.ts";
import { Pictures } from "./pictures.ts";
import { findNode, nameOfNode, nodeAt, pathTo, placeOf, type View } from "./view.ts";
import { type Choice, fromFragment, OF_ONE_PROFILE, remember, START } from "../link.ts";

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
  private choice: Choice;
  private view: View;
  private zoomed = 0;
  private matches: Matches | null = null;
  /** The labels of the crumbs. */
  private path = "";
  private readonly heading = h("h2", { id: "profile-title" });

  /** Creates the panel. `beside` stands beside the graph where there is room, `below` after its legend. */
  constructor(
    private readonly model: Model,
    title: string,
    beside: HTMLElement | null,
    below: HTMLElement[],
    private readonly listener: Listener = NO_LISTENER,
    /** The profile changes: the address names nothing of it. */
    private isLive = false,
  ) {
    this.choice = this.addressed(isLive ? OF_ONE_PROFILE : {});
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
    this.heading.textContent = title;
    this.element = this.build(beside, below);
    addEventListener("popstate", () => {
      const { zoom, opened, range, against } = this.choice;
      // The address may also lead to a part of the page.
      if (!document.getElementById(location.hash.slice(1))) this.apply(this.addressed(this.isLive ? { zoom, opened, range, against } : {}));
    });
    addEventListener("keydown", (event) => this.key(event));
    this.apply(this.choice);
    this.selected();
  }

  /** Seconds of a step of time. */
  private get step(): number {
    return (this.model.owners?.data["step-nanos"] ?? 0) / 1e9;
  }

  private addressed(change: Partial<Choice>): Choice {
    return { ...fromFragment(location.hash, this.step), ...change };
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

  private build(beside: HTMLElement | null, below: HTMLElement[]): HTMLElement {
    const { search, buttons, legend } = this.controls;
    return h(
      "section",
      { class: "panel where", "aria-labelledby": "profile-title" },
      h("div", { class: "toolbar where-head" }, this.heading, search, buttons),
      h("div", { class: "where-body" }, h("div", { class: "pictures" }, this.pictures.element, this.crumbs, this.chips, legend), beside),
      ...below,
    );
  }

  /** Applies a choice. The browser's back button undoes a step. */
  choose(change: Partial<Choice>, isStep: boolean): void {
    const next = { ...this.choice, ...change };
    this.remember(next, isStep);
    this.apply(next);
  }

  private remember(choice: Choice, isStep: boolean): void {
    if (this.isLive) remember({ ...choice, ...OF_ONE_PROFILE }, false, this.step);
    else remember(choice, isStep, this.step);
  }

  /**
   * Shows the profile that `load` puts into the model. Zoom and open recursion follow by their names. All other choices
   * stay, but a rolling profile has no spans.
   */
  reload(load: () => void, title: string, isLive: boolean): void {
    say(this.heading, title);
    const { view, choice } = this;
    const before = { view, names: this.model.names };
    const zoomed = placeOf(before, this.zoomed);
    const opened = choice.opened.map((origin) => {
      const path = pathTo(view, view.find(origin, 0)).filter((node) => node > 0 && view.step[node] === 0);
      return path.map((node) => before.names[view.frame[node]] as string);
    });
    load();
    this.isLive = isLive;
    const next = { ...choice, ...OF_ONE_PROFILE, ...(this.model.isRolling ? {} : { range: choice.range, against: choice.against }) };
    this.restrict(next);
    const { names } = this.model;
    this.view = this.model.view(next);
    const nodes = opened.map((place) => [nodeAt({ view: this.view, names }, place), place.length] as const);
    const origins = nodes.filter(([node, depth]) => this.view.depth[node] === depth).map(([node]) => this.view.origin[node]);
    if (origins.length > 0) this.view = this.model.view({ ...next, opened: origins });
    const zoom = nameOfNode(this.view, nodeAt({ view: this.view, names }, zoomed));
    this.apply({ ...next, opened: origins, zoom }, true);
    if (!isLive) this.remember(this.choice, false);
  }

  private restrict(choice: Choice): void {
    this.model.select(choice);
    this.model.edit(choice.edits);
  }

  /** Applies a choice; with another profile, view and selection are already there. */
  private apply(next: Choice, isOtherProfile = false): void {
    const selection = ({ owner, by, state, range, against, edits, shares }: Choice): string =>
      JSON.stringify([owner, by, state, range, against, edits, shares]);
    const isOther = selection(next) !== selection(this.choice);
    const same =
      next.openAll === this.choice.openAll && next.opened.join() === this.choice.opened.join();
    const zoomed = this.choice.zoom;
    if (isOther && !isOtherProfile) this.restrict(next);
    if ((isOther || !same) && !isOtherProfile) this.view = this.model.view(next);
    this.choice = next;
    this.zoomed = next.zoom ? findNode(this.view, next.zoom) : 0;
    this.search(next.search);
    this.pictures.show(this.view, this.zoomed, next, this.matches);
    this.controls.show(next, this.zoomed !== 0);
    this.showCrumbs();
    this.showChips();
    if (isOther || isOtherProfile) {
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
    const chips = chipsOf(this.choice, this.model, (change) => this.choose(change, true));
    const text = (all: ArrayLike<Element>): string => Array.from(all, ({ textContent }) => textContent).join("\n");
    if (text(chips) === text(this.chips.children)) return;
    const hasFocus = this.chips.contains(document.activeElement);
    this.chips.replaceChildren(...chips);
    this.chips.hidden = this.chips.childElementCount === 0;
    if (hasFocus) this.pictures.graph.focus();
  }

  private showCrumbs(): void {
    const labels = this.zoomed === 0 ? [] : pathTo(this.view, this.zoomed).map((node) => this.model.label(this.view, node));
    if (labels.join("\n") === this.path) return;
    this.path = labels.join("\n");
    this.crumbs.hidden = labels.length === 0;
    const crumbs = labels.map((label, depth) => this.crumb(label, depth, depth === labels.length - 1));
    if (crumbs.length > 9) crumbs.splice(3, crumbs.length - 8, h("span", { class: "crumb" }, "…"));
    this.crumbs.replaceChildren(...crumbs);
  }

  /** Creates the crumb of the zoomed node or of one above it, which has this depth in any profile. */
  private crumb(label: string, depth: number, isLast: boolean): HTMLElement {
    if (isLast) return h("span", { class: "crumb", "aria-current": "location" }, label);
    const zoom = (): void => this.choose({ zoom: nameOfNode(this.view, pathTo(this.view, this.zoomed)[depth] ?? 0) }, true);
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
