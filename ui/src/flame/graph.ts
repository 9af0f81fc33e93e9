// Flame graph on its canvas: drawing, and reactions to pointer and keys. The owner decides the effect of a click on
// the rest of the page.

import { h, onWidth, say } from "../dom.ts";
import { onTheme } from "../theme.ts";
import { indexAt, layOut, type Row } from "./layout.ts";
import type { Model } from "./model.ts";
import { paint, ROW_HEIGHT, rowAt, rowTop } from "./paint.ts";
import { type Palette, readPalette } from "./palette.ts";
import type { Matches } from "./search.ts";
import { sentenceOf, Tooltip } from "./tooltip.ts";
import { nodeAt, placeOf, type View } from "./view.ts";

const MAX_HEIGHT = 640;
const NARROWEST_PIXELS = 0.4;

/** Milliseconds of a touch that opens the menu, and of the time in which a second event belongs to the same gesture. */
const LONG_TOUCH = 550;
const ONE_GESTURE = 400;

export interface Actions {
  zoomTo(node: number): void;
  /** Opens the folded run of `node`, or folds it again. */
  toggleRun(node: number): void;
  /** Shows the function of `node` with its callers and callees. */
  centre(node: number): void;
  /** Opens the menu of `node` at a place of the window; the focus returns to `origin`. */
  menu(node: number, x: number, y: number, origin: HTMLElement): void;
}

export class Graph {
  readonly element: HTMLElement;
  readonly said = h("p", { class: "graph-line" });
  private readonly canvas = h("canvas", { "aria-hidden": true });
  private readonly filler = h("div", { class: "graph-filler" });
  private readonly scroller: HTMLElement;
  private readonly tooltip = new Tooltip();
  private palette: Palette | null = null;
  private rows: Row[] = [];
  private width = 0;
  private tallest = 0;
  private cursor = 0;
  private zoomed = 0;
  private rootAtBottom = false;
  private matches: Matches | null = null;
  private waiting = false;
  private clicked = -1;
  /** The place of the pointer; null outside the graph. */
  private pointer: { clientX: number; clientY: number } | null = null;
  /** Names of the frames of the view. */
  private names: string[];
  /** The timer of a long touch. */
  private press = 0;
  /** Time of the latest menu, in milliseconds: one gesture opens one. */
  private opened = -Infinity;

  constructor(
    private readonly model: Model,
    private view: View,
    private readonly actions: Actions,
  ) {
    this.names = model.names;
    this.scroller = h(
      "div",
      {
        class: "graph",
        tabindex: "0",
        role: "application",
        "aria-label":
          "Flame graph. Arrow keys move between functions, Enter zooms, Space opens recursion, " +
          "S shows callers and callees, M opens the menu, Escape shows everything again.",
        scroll: () => this.scheduleDraw(),
        mousemove: (event: MouseEvent) => this.point(event),
        mouseleave: () => this.hideTooltip(),
        click: (event: MouseEvent) => this.click(event),
        dblclick: (event: MouseEvent) => this.doubleClick(event),
        contextmenu: (event: MouseEvent) => this.menu(event),
        touchstart: (event: TouchEvent) => this.touch(event),
        touchmove: () => clearTimeout(this.press),
        touchend: () => clearTimeout(this.press),
        keydown: (event: KeyboardEvent) => this.key(event),
      },
      this.filler,
      this.canvas,
    );
    this.element = h("div", { class: "graph-box" }, this.scroller, this.tooltip.element);
    onWidth(this.scroller, (width) => {
      this.width = width;
      this.arrange();
    });
    onTheme(() => {
      this.palette = null;
      this.scheduleDraw();
    });
  }

  /** Shows a new view, zoom, direction or search. */
  update(view: View, zoomed: number, rootAtBottom: boolean, matches: Matches | null): void {
    const { names } = this.model;
    const isOtherProfile = names !== this.names;
    const turned = rootAtBottom !== this.rootAtBottom;
    const moved = !isOtherProfile && (zoomed !== this.zoomed || view !== this.view);
    if (isOtherProfile) this.cursor = nodeAt({ view, names }, placeOf({ view: this.view, names: this.names }, this.cursor));
    Object.assign(this, { view, names, zoomed, rootAtBottom, matches, clicked: isOtherProfile ? -1 : this.clicked });
    if (moved) {
      this.cursor = zoomed;
      this.hideTooltip();
    }
    this.arrange();
    if (turned || (moved && rootAtBottom)) this.scrollToZoomed();
    else if (moved) this.scroller.scrollTop = 0;
    else if (isOtherProfile && this.pointer) this.point(this.pointer);
    this.say();
  }

  private hideTooltip(): void {
    this.pointer = null;
    this.tooltip.hide();
  }

  /** Returns the function of a node in the view; -1 for the root of all. */
  frameOf(node: number): number {
    return this.view.frame[node] ?? -1;
  }

  focus(): void {
    this.scroller.focus({ preventScroll: true });
  }

  private arrange(): void {
    if (this.width === 0) return;
    const arrange = (view: View, siblings: number[]): number[] => this.model.arrange(view, siblings);
    this.rows = layOut(this.view, this.zoomed, NARROWEST_PIXELS / this.width, arrange);
    const height = this.rows.length * ROW_HEIGHT;
    const most = Math.max(Math.min(MAX_HEIGHT, Math.floor(innerHeight * 0.75)), 8 * ROW_HEIGHT);
    // The box never shrinks, so that the content below it stays in place when a frame is zoomed.
    this.tallest = Math.max(this.tallest, Math.min(height, most));
    this.scroller.style.height = `${this.tallest}px`;
    this.filler.style.height = `${height}px`;
    this.scheduleDraw();
  }

  private scrollToZoomed(): void {
    this.scroller.scrollTop = this.rootAtBottom ? this.scroller.scrollHeight : 0;
  }

  private scheduleDraw(): void {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      this.draw();
    });
  }

  private draw(): void {
    if (this.width === 0) return;
    this.palette ??= readPalette(this.scroller);
    paint(this.canvas, {
      rows: this.rows,
      zoomedDepth: this.view.depth[this.zoomed],
      rootAtBottom: this.rootAtBottom,
      scrollTop: this.scroller.scrollTop,
      width: this.width,
      height: this.scroller.clientHeight,
      cursor: document.activeElement === this.scroller ? this.cursor : -1,
      searching: this.matches !== null,
      palette: this.palette,
      look: (node) => this.model.look(this.view, node, this.matches),
    });
  }

  private nodeAt(event: { clientX: number; clientY: number }): number {
    const box = this.scroller.getBoundingClientRect();
    const y = event.clientY - box.top + this.scroller.scrollTop;
    const row = this.rows[rowAt(y, this.rows.length, this.rootAtBottom, this.scroller.clientHeight)];
    if (!row) return -1;
    const at = indexAt(row, (event.clientX - box.left) / this.width);
    return at < 0 ? -1 : row.node[at];
  }

  private point({ clientX, clientY }: { clientX: number; clientY: number }): void {
    this.pointer = { clientX, clientY };
    const node = this.nodeAt(this.pointer);
    this.scroller.style.cursor = node < 0 ? "default" : "pointer";
    if (node < 0) this.tooltip.hide();
    else this.tooltip.show(this.model.facts(this.view, node, this.zoomed), clientX, clientY);
  }

  private click(event: MouseEvent): void {
    const node = this.nodeAt(event);
    // The second click of a double click would hit the node that the first has moved under the pointer.
    if (node < 0 || event.detail > 1) return;
    this.clicked = node;
    this.actions.zoomTo(node);
  }

  private doubleClick(event: MouseEvent): void {
    event.preventDefault();
    if (this.clicked >= 0) this.actions.toggleRun(this.clicked);
  }

  private key(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const down = this.rootAtBottom ? "ArrowUp" : "ArrowDown";
    const up = this.rootAtBottom ? "ArrowDown" : "ArrowUp";
    const moves: Record<string, () => number> = {
      [down]: () => this.below(),
      [up]: () => Math.max(this.view.parent[this.cursor], 0),
      ArrowLeft: () => this.beside(-1),
      ArrowRight: () => this.beside(1),
      Home: () => 0,
    };
    const move = moves[event.key];
    if (move) this.moveTo(move());
    else if (event.key === "Enter") this.actions.zoomTo(this.cursor);
    else if (event.key === " ") this.actions.toggleRun(this.cursor);
    else if (event.key === "s") this.actions.centre(this.cursor);
    else if (event.key === "m" || event.key === "ContextMenu" || (event.key === "F10" && event.shiftKey)) this.menuAtCursor();
    else return;
    event.preventDefault();
  }

  private menuAtCursor(): void {
    const box = this.scroller.getBoundingClientRect();
    const row = this.rows[this.view.depth[this.cursor]];
    const at = row ? row.node.indexOf(this.cursor) : -1;
    const left = row && at >= 0 ? row.left[at] * this.width : 0;
    const top = rowTop(this.view.depth[this.cursor], this.rows.length, this.rootAtBottom, this.scroller.clientHeight);
    this.openMenu(this.cursor, box.left + left, box.top + top - this.scroller.scrollTop + ROW_HEIGHT);
  }

  private menu(event: MouseEvent): void {
    event.preventDefault();
    // The same gesture of a finger or a key may have opened the menu already.
    if (performance.now() - this.opened > ONE_GESTURE) this.openMenu(this.nodeAt(event), event.clientX, event.clientY);
  }

  /** Opens the menu after a long touch, where browsers do not. */
  private touch(event: TouchEvent): void {
    clearTimeout(this.press);
    const [finger] = event.touches;
    if (!finger || event.touches.length > 1) return;
    const { clientX, clientY } = finger;
    this.press = window.setTimeout(() => this.openMenu(this.nodeAt({ clientX, clientY }), clientX, clientY), LONG_TOUCH);
  }

  private openMenu(node: number, x: number, y: number): void {
    if (node < 0 || this.view.frame[node] < 0) return;
    this.opened = performance.now();
    this.cursor = node;
    this.hideTooltip();
    this.actions.menu(node, x, y, this.scroller);
  }

  private below(): number {
    if (this.view.depth[this.cursor] >= this.view.depth[this.zoomed]) {
      const [first, end] = this.view.children(this.cursor);
      return first < end ? first : this.cursor;
    }
    let node = this.zoomed;
    while (this.view.parent[node] !== this.cursor) node = this.view.parent[node];
    return node;
  }

  private beside(step: number): number {
    const parent = this.view.parent[this.cursor];
    if (parent < 0 || this.view.depth[this.cursor] <= this.view.depth[this.zoomed]) return this.cursor;
    const [first, end] = this.view.children(parent);
    const siblings = this.model.arrange(this.view, Array.from({ length: end - first }, (_, at) => first + at));
    return siblings[siblings.indexOf(this.cursor) + step] ?? this.cursor;
  }

  private moveTo(node: number): void {
    this.cursor = node;
    const { scrollTop, clientHeight } = this.scroller;
    const top = rowTop(this.view.depth[node], this.rows.length, this.rootAtBottom, clientHeight);
    if (top < scrollTop) this.scroller.scrollTop = top;
    else if (top + ROW_HEIGHT > scrollTop + clientHeight) {
      this.scroller.scrollTop = top + ROW_HEIGHT - clientHeight;
    }
    this.say();
    this.scheduleDraw();
  }

  private say(): void {
    // A change of the profile is no reason to speak.
    this.said.setAttribute("aria-live", this.model.isRolling ? "off" : "polite");
    say(this.said, sentenceOf(this.model.facts(this.view, this.cursor, this.zoomed)));
  }
}
