// The ticks that a live page keeps, as text: the latest ones, up to some time and some size. No DOM.

import type { BlockData, Tick } from "../blocks/data.ts";

/** Nanoseconds and characters that are kept. */
const LONGEST = 30 * 60 * 1e9;
const MOST_TEXT = 32 << 20;

interface Kept {
  at: number;
  text: string;
}

export class KeptTicks {
  private ticks: Kept[] = [];
  private size = 0;
  /** The number of the oldest tick that is kept. */
  first = 0;
  /** The latest blocks of the ticks that are no longer kept. */
  private readonly before = new Map<string, BlockData>();
  /** The blocks that any tick replaced. */
  private readonly replaced = new Set<string>();

  constructor(
    private readonly longest = LONGEST,
    private readonly mostText = MOST_TEXT,
  ) {}

  /** The number of the latest tick; one less than {@link first} without any. */
  get last(): number {
    return this.first + this.ticks.length - 1;
  }

  /** Returns the texts of all kept ticks. */
  texts(): string[] {
    return this.ticks.map(({ text }) => text);
  }

  /** Forgets everything. */
  clear(): void {
    this.ticks = [];
    this.size = this.first = 0;
    this.before.clear();
    this.replaced.clear();
  }

  /** Keeps a tick; returns false for one that is not later than the latest. */
  add({ at = 0, replace = [] }: Tick, text: string): boolean {
    if (at <= this.at(this.last)) return false;
    for (const { id } of replace) this.replaced.add(id);
    this.ticks.push({ at, text });
    this.size += text.length;
    while (this.ticks.length > 1 && (this.size > this.mostText || at - this.at(this.first) > this.longest)) this.drop();
    return true;
  }

  private drop(): void {
    const { text } = this.ticks.shift() as Kept;
    this.size -= text.length;
    this.first += 1;
    for (const block of replacedBy(text)) this.before.set(block.id, block);
  }

  /** Returns the moment of a tick, in nanoseconds since 1970; 0 for none. */
  at(number: number): number {
    return this.ticks[number - this.first]?.at ?? 0;
  }

  /** Returns the blocks as of a tick. */
  blocksAt(number: number): BlockData[] {
    const blocks = new Map<string, BlockData>();
    for (let tick = number - this.first; tick >= 0 && blocks.size < this.replaced.size; tick--) {
      for (const block of replacedBy(this.ticks[tick]?.text ?? "{}")) if (!blocks.has(block.id)) blocks.set(block.id, block);
    }
    return [...new Map([...this.before, ...blocks]).values()];
  }
}

function replacedBy(text: string): BlockData[] {
  return (JSON.parse(text) as Tick).replace ?? [];
}
