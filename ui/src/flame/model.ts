// A profile ready to be drawn and asked: stacks, names, looks and the view for a reader's choice.

import type { Choice } from "../link.ts";
import type { FrameKind, ProfileData } from "../wire.ts";
import { exactly, type Matches } from "./search.ts";
import { KIND_NAMES, shadeOf } from "./palette.ts";
import type { Look } from "./paint.ts";
import { decodeStacks, type Stacks } from "./stacks.ts";
import type { Facts } from "./tooltip.ts";
import { buildView, type View } from "./view.ts";

export class Model {
  readonly stacks: Stacks;
  readonly names: string[];
  readonly hasRecursion: boolean;
  readonly unit: string;
  readonly total: number;
  readonly kinds: FrameKind[];
  private readonly shades: Uint8Array;

  constructor(profile: ProfileData) {
    this.stacks = decodeStacks(profile.stacks);
    this.names = profile.frames.name;
    this.kinds = profile.frames.kind.map((number) => profile.frames.kinds[number] as FrameKind);
    this.shades = Uint8Array.from(this.names, shadeOf);
    this.hasRecursion = profile.stacks["run-node"].length > 0;
    this.unit = profile.unit;
    this.total = profile.total;
  }

  view(choice: Choice): View {
    if (choice.openAll) return buildView(this.stacks, () => true);
    const opened = new Set(choice.opened);
    return buildView(this.stacks, (members) => members.some((member) => opened.has(member)));
  }

  look(view: View, node: number, matches: Matches | null): Look {
    const frame = view.frame[node];
    if (frame < 0) return { label: this.label(view, node), kind: null, shade: 0, match: false };
    return {
      label: this.label(view, node),
      kind: this.kinds[frame],
      shade: this.shades[frame],
      match: matches !== null && matches.frames[frame] === 1,
    };
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
      kind: frame < 0 ? null : this.kinds[frame],
      total: view.total[node],
      self: view.self[node],
      all: this.total,
      zoomed: view.total[zoomed],
      unit: this.unit,
      run: view.run[node],
    };
  }

  /** Kinds that occur, with the weight of the stacks that end in them. */
  weightByKind(): { kind: FrameKind; name: string; weight: number }[] {
    const weights = new Map<FrameKind, number>(this.kinds.map((kind) => [kind, 0]));
    for (let node = 0; node < this.stacks.length; node++) {
      const kind = this.kinds[this.stacks.frame[node]];
      weights.set(kind, (weights.get(kind) ?? 0) + this.stacks.leaf[node]);
    }
    return (Object.keys(KIND_NAMES) as FrameKind[])
      .filter((kind) => weights.has(kind))
      .map((kind) => ({ kind, name: KIND_NAMES[kind], weight: weights.get(kind) ?? 0 }));
  }

  searchFor(frame: number): string {
    return exactly(this.names[frame]);
  }
}
