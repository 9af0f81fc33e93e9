// A profile ready for drawing and queries: stacks, names, looks and the view for a reader's choice.

import type { Choice } from "../link.ts";
import type { Columns } from "../columns/decode.ts";
import type { CostOfMessages, FrameKind, Noise, OwnersData } from "../wire.ts";
import { amount, percent, whole } from "../format.ts";
import { buildView } from "./folded.ts";
import { Owners, type Selection } from "./owners.ts";
import { byCost, byShare, type Measure } from "./measure.ts";
import { Regrouper } from "./regroup.ts";
import { isBeyondNoise, type Pair, withinNoise } from "./noise.ts";
import { exactly, matchedWeight, type Matches } from "./search.ts";
import { changeStep, KIND_NAMES, shadeOf } from "./palette.ts";
import type { Look } from "./paint.ts";
import { type Edit, edited } from "./edits.ts";
import { childrenOf, type Numbers, originOf, type Stacks, weightsByKind } from "./stacks.ts";
import type { Facts } from "./tooltip.ts";
import type { View } from "./view.ts";

/** The data of a graph: the common part of profiles and comparisons. */
export interface GraphData {
  unit: string;
  total: number;
  /** Names of the classes by number. */
  kinds: FrameKind[];
  columns: Columns;
  /** The weights of the two profiles of a comparison. */
  sideTotals: Pair | null;
  noise: Noise;
  owners?: OwnersData;
  cost?: CostOfMessages | null;
}

export class Model {
  /** Stacks of the selection. */
  stacks!: Stacks;
  names!: string[];
  hasRecursion!: boolean;
  unit!: string;
  /** Weight of the selection. */
  total!: number;
  /** Kinds of frames, independent of their place. */
  kinds!: FrameKind[];
  /** Kinds by number; that of threads is 0. */
  private kindNames!: FrameKind[];
  owners: Owners | null = null;
  /** The profile rolls on: siblings keep their order, by name. */
  isRolling = false;
  private shades!: number[];
  private base!: Stacks;
  private baseTotal!: number;
  private regrouper: Regrouper | null = null;
  /** Weights by kind, for these stacks. */
  private weighed!: { of: Stacks; byKind: Float64Array };
  private readonly rootFrames = new Map<string, number>();

  /** The figure of a comparison; null without one. */
  measure!: Measure | null;
  private baseSides!: Pair | null;
  /** Costs per message of both sides, if they are known. */
  cost!: CostOfMessages | null;
  noise!: Noise;

  constructor(profile: GraphData) {
    this.load(profile);
  }

  /** Takes another profile, whole. Numbers of frames and nodes are others from then on. */
  load(profile: GraphData): void {
    const { names, classes, stacks, byKind, hasRecursion, records } = profile.columns;
    this.kindNames = profile.kinds;
    this.stacks = stacks;
    this.weighed = { of: stacks, byKind };
    this.baseSides = profile.sideTotals;
    this.cost = profile.cost ?? null;
    this.measure = this.baseSides && byShare(this.baseSides, profile.noise);
    this.base = this.stacks;
    this.baseTotal = profile.total;
    this.regrouper = null;
    this.rootFrames.clear();
    if (this.owners && profile.owners) this.owners.load(profile.owners, records);
    else this.owners = profile.owners ? new Owners(profile.owners, records) : null;
    this.names = [...names];
    this.kinds = Array.from(classes, (number) => this.kindNames[number] as FrameKind);
    this.shades = this.names.map(shadeOf);
    this.hasRecursion = hasRecursion;
    this.unit = profile.unit;
    this.total = profile.total;
    this.noise = profile.noise;
  }

  /** Weights of both sides of a comparison that are 1 of its figure. */
  get sideTotals(): Pair | null {
    return this.measure?.totals ?? null;
  }

  view(choice: Choice): View {
    if (choice.openAll) return buildView(this.stacks, () => true);
    const opened = new Set(choice.opened);
    return buildView(this.stacks, (members) => members.some((member) => opened.has(originOf(this.stacks, member))));
  }

  /** Restricts the model to this selection. */
  select(selection: Selection & { shares: boolean }): void {
    const { by } = selection;
    const isCost = this.cost !== null && !selection.shares;
    [this.stacks, this.total] = [this.base, this.baseTotal];
    this.measure = this.baseSides && byShare(this.baseSides, this.noise);
    if (this.baseSides && isCost) this.measure = byCost(this.baseSides, this.noise, this.cost as CostOfMessages);
    if (!this.owners || (!by && this.owners.isWhole(selection))) return;
    this.regrouper ??= new Regrouper(this.base);
    const entries = this.owners.entries(selection);
    this.stacks = this.regrouper.build(entries, (root) => this.rootFrame(by, root));
    const sum = (weights: number[]): number => weights.reduce((all, weight) => all + weight, 0);
    this.total = sum(entries.weight);
    if (entries.sides) this.measure = byShare([sum(entries.sides[0]), sum(entries.sides[1])], this.noise);
  }

  /** Returns whether the stacks are those of the whole recording. */
  isWhole(): boolean {
    return this.stacks === this.base;
  }

  /** Orders siblings, which come heaviest first, as a graph or a tree shows them. */
  arrange(view: View, siblings: number[]): number[] {
    if (!this.isRolling) return siblings;
    const name = (node: number): string => this.names[view.frame[node]] as string;
    return siblings.sort((left, right) => (name(left) < name(right) ? -1 : name(left) > name(right) ? 1 : left - right));
  }

  /** Applies the reader's changes to the selected stacks; one of an unknown function does nothing. */
  edit(edits: Edit[]): void {
    for (const { kind, name } of edits) {
      const frame = this.names.indexOf(name);
      if (frame < 0) continue;
      this.stacks = edited(this.stacks, kind, frame);
      const sum = (weights: Numbers): number => childrenOf(this.stacks, -1).reduce((all, root) => all + weights[root], 0);
      this.total = sum(this.stacks.total);
      if (this.measure?.name === "share") this.measure = byShare(this.stacks.sides.map(sum) as Pair, this.noise);
    }
  }

  /** Returns the frame of an owner, created at its first use. */
  private rootFrame(dimension: string, root: number): number {
    const key = `${dimension}:${root}`;
    let frame = this.rootFrames.get(key);
    if (frame === undefined) {
      frame = this.names.length;
      const name = this.owners?.rootName(dimension, root) ?? "";
      this.names.push(name);
      this.kinds.push("thread");
      this.shades.push(shadeOf(name));
      this.rootFrames.set(key, frame);
    }
    return frame;
  }

  look(view: View, node: number, matches: Matches | null): Look {
    const frame = view.frame[node];
    const label = this.label(view, node);
    if (frame < 0) return { label, kind: null, shade: 0, change: null, match: false };
    return {
      label,
      kind: this.kindOf(view, node),
      shade: this.shades[frame],
      change: this.sideTotals && this.changeOf(view, node, this.sideTotals),
      match: matches !== null && matches.frames[frame] === 1,
    };
  }

  private kindOf(view: View, node: number): FrameKind {
    return this.kindNames[view.kind[node]] as FrameKind;
  }

  private changeOf(view: View, node: number, totals: Pair): number {
    const [before, after] = view.sides.map((side) => side[node]) as Pair;
    const step = changeStep(before / totals[0], after / totals[1]);
    return this.isBeyondNoise([before, after], totals) ? step : 0;
  }

  /** Writes both shares of a part of a comparison as text. */
  changeSentence(part: Pair, totals: Pair): string {
    const [before, after] = part.map((weight, side) => weight / (totals[side] as number)) as Pair;
    const mark = this.isBeyondNoise(part, totals) || before === after ? "" : `, ${withinNoise(this.noise)}`;
    const { write, change } = this.measure as Measure;
    return `${write(before)} before, ${write(after)} after, ${change(after - before)}${mark}`;
  }

  /** Writes the result of a search as text: its share, or both shares in a comparison. */
  found(view: View, zoomed: number, matches: Matches): string {
    const { functions } = matches;
    if (functions === 0) return "no match";
    const counted = `${whole(functions)} function${functions === 1 ? "" : "s"}`;
    if (this.sideTotals) {
      const part = view.sides.map((_, side) => matchedWeight(view, zoomed, matches, side)) as Pair;
      return `${this.changeSentence(part, this.sideTotals)} · ${counted}`;
    }
    const weight = matchedWeight(view, zoomed, matches);
    const share = percent(view.total[zoomed] > 0 ? weight / view.total[zoomed] : 0);
    const where = zoomed === 0 ? "" : " of the zoomed frame";
    return `${share}${where} · ${amount(weight, this.unit)}, ${counted}`;
  }

  label(view: View, node: number): string {
    const run = view.run[node];
    return run > 1 ? `${this.name(view, node)} ×${run}` : this.name(view, node);
  }

  name(view: View, node: number): string {
    const frame = view.frame[node];
    return frame < 0 ? "all" : this.names[frame];
  }

  facts(view: View, node: number, zoomed: number): Facts {
    const frame = view.frame[node];
    return {
      name: this.label(view, node),
      kind: frame < 0 ? null : this.kindOf(view, node),
      total: view.total[node],
      self: view.self[node],
      all: this.total,
      zoomed: view.total[zoomed],
      parent: node === 0 ? 0 : view.total[view.parent[node]],
      unit: this.unit,
      run: view.run[node],
      sides: this.sideTotals && this.sidesOf(view, node, this.sideTotals),
    };
  }

  private sidesOf(view: View, node: number, totals: Pair): Facts["sides"] {
    const pair = view.sides.map((side) => side[node]) as Pair;
    const [before, after] = pair.map((weight, side) => weight / (totals[side] as number)) as Pair;
    const isBeyond = this.isBeyondNoise(pair, totals) || before === after;
    const { write, change } = this.measure as Measure;
    const texts: [string, string] = [write(before), write(after)];
    return { weights: pair, texts, change: change(after - before), doubt: isBeyond ? "" : withinNoise(this.noise) };
  }

  /** Tests a part of the graph, which has as many parts as nodes. */
  private isBeyondNoise(part: Pair, totals: Pair): boolean {
    return isBeyondNoise(part, totals, this.measure?.noise ?? this.noise, this.stacks.length);
  }

  /** Returns the kinds that occur, with the weight of the stacks that end in them. */
  weightByKind(): { kind: FrameKind; name: string; weight: number }[] {
    const weights = this.weigh();
    return (Object.keys(KIND_NAMES) as FrameKind[])
      .filter((kind) => weights.has(kind))
      .map((kind) => ({ kind, name: KIND_NAMES[kind], weight: weights.get(kind) ?? 0 }));
  }

  private weigh(): Map<FrameKind, number> {
    if (this.weighed.of !== this.stacks) this.weighed = { of: this.stacks, byKind: weightsByKind(this.stacks) };
    const weights = new Map<FrameKind, number>(this.kinds.map((kind) => [kind, 0]));
    this.kindNames.forEach((kind, number) => this.weighed.byKind[number] >= 0 && weights.set(kind, this.weighed.byKind[number]));
    return weights;
  }

  searchFor(frame: number): string {
    return exactly(this.names[frame]);
  }
}
