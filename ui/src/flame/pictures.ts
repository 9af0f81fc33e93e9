// The pictures of the stacks, of which one is shown: the graph, a function between its callers and callees, the call
// tree, the tree from the leaves.

import { h, place } from "../dom.ts";
import { amount, percent } from "../format.ts";
import type { Choice } from "../link.ts";
import { invertedView } from "./callers.ts";
import { type Actions, Graph } from "./graph.ts";
import type { Model } from "./model.ts";
import type { Pair } from "./noise.ts";
import { type Sandwich, sandwich } from "./sandwich.ts";
import type { Matches } from "./search.ts";
import type { Stacks } from "./stacks.ts";
import { CallTree } from "./tree.ts";
import type { View } from "./view.ts";

/** The effects of a reader's actions on functions, by their frame. */
export interface FrameActions {
  around(frame: number): void;
  menu(frame: number, x: number, y: number, origin: HTMLElement): void;
}

export class Pictures {
  readonly element: HTMLElement;
  readonly graph: Graph;
  /** Created at the first use. */
  private graphsAround: { callers: Graph; callees: Graph } | null = null;
  private tree: CallTree | null = null;
  private inverted: { tree: CallTree; stacks: Stacks; view: View } | null = null;
  private readonly single = h("div");
  private readonly double = h("div", { class: "sandwich", hidden: true });
  private readonly rows = h("div", { hidden: true });
  private readonly centre = h("p", { class: "centre" });

  constructor(
    private readonly model: Model,
    private view: View,
    private readonly actions: Actions,
    private readonly frames: FrameActions,
  ) {
    this.graph = new Graph(model, view, actions);
    this.single.append(this.graph.element, this.graph.said);
    this.element = h("div", {}, this.single, this.double, this.rows);
  }

  /** Shows the picture that the choice asks for. */
  show(view: View, zoomed: number, choice: Choice, matches: Matches | null): void {
    this.view = view;
    const frame = choice.around ? this.model.names.indexOf(choice.around) : -1;
    this.double.hidden = frame < 0;
    this.single.hidden = frame >= 0 || choice.view !== "";
    this.rows.hidden = frame >= 0 || choice.view === "";
    if (frame >= 0) this.showAround(frame, choice.around, matches);
    else if (choice.view === "") this.graph.update(view, zoomed, choice.flame, matches);
    else if (choice.view === "tree") this.showTree(zoomed, matches);
    else this.showInverted(matches);
  }

  private showTree(zoomed: number, matches: Matches | null): void {
    this.tree ??= new CallTree(this.model, this.actions);
    this.tree.update(this.view, zoomed, matches, "Call tree");
    place(this.rows, [this.tree.element]);
  }

  private showInverted(matches: Matches | null): void {
    const { stacks } = this.model;
    if (this.inverted?.stacks !== stacks) {
      const view = invertedView(stacks);
      const tree: CallTree = this.inverted?.tree ?? new CallTree(this.model, this.ofFrames((node) => this.inverted?.view.frame[node] ?? -1));
      this.inverted = { tree, stacks, view };
    }
    this.inverted.tree.update(this.inverted.view, 0, matches, "Inverted call tree: functions with their callers");
    place(this.rows, [this.inverted.tree.element]);
  }

  private showAround(frame: number, name: string, matches: Matches | null): void {
    const made = sandwich(this.model.stacks, frame);
    this.centre.replaceChildren(h("b", {}, name), this.shareAround(made));
    this.graphsAround ??= this.buildAround();
    this.graphsAround.callers.update(made.callers, 0, true, matches);
    this.graphsAround.callees.update(made.callees, 0, false, matches);
  }

  private shareAround({ total, sides, isRecursive }: Sandwich): string {
    const { sideTotals, unit } = this.model;
    const once = isRecursive ? "; it calls itself: a sample counts once, from the outermost call on" : "";
    if (sideTotals) return ` in ${this.model.changeSentence(sides as Pair, sideTotals)}${once}`;
    const share = percent(this.model.total > 0 ? total / this.model.total : 0);
    return ` in ${share} of all, ${amount(total, unit)}${once}`;
  }

  /** Returns actions of a picture in which every click leads to another function. */
  private ofFrames(frameOf: (node: number) => number): Actions {
    const centre = (node: number): void => this.frames.around(frameOf(node));
    return { zoomTo: centre, toggleRun: () => {}, centre, menu: (node, ...place) => this.frames.menu(frameOf(node), ...place) };
  }

  private buildAround(): { callers: Graph; callees: Graph } {
    const graph = (): Graph => {
      const made: Graph = new Graph(this.model, this.view, this.ofFrames((node) => made.frameOf(node)));
      return made;
    };
    const [callers, callees] = [graph(), graph()];
    const title = (text: string): HTMLElement => h("h3", {}, text);
    this.double.append(title("Callers"), callers.element, this.centre, callees.element, title("Callees"));
    return { callers, callees };
  }
}
