// A row of controls with one tab stop: the arrow keys move between them.

import { h } from "./dom.ts";

const STEPS: Record<string, (at: number, last: number) => number> = {
  ArrowRight: (at, last) => (at === last ? 0 : at + 1),
  ArrowLeft: (at, last) => (at === 0 ? last : at - 1),
  Home: () => 0,
  End: (_, last) => last,
};

export class Toolbar {
  readonly element: HTMLElement;

  constructor(label: string, className = "buttons", ...items: HTMLElement[]) {
    this.element = h("div", {
      class: className,
      role: "toolbar",
      "aria-label": label,
      keydown: (event: KeyboardEvent) => this.key(event),
      focusin: (event: FocusEvent) => this.stopAt(event.target as HTMLElement),
    });
    this.fill(...items);
  }

  /** Replaces the controls. */
  fill(...items: HTMLElement[]): void {
    this.element.replaceChildren(...items);
    this.refresh();
  }

  /** Restores the tab stop after controls were hidden or disabled. */
  refresh(): void {
    const items = this.items();
    this.stopAt(items.find((item) => item.tabIndex === 0) ?? items[0]);
  }

  private items(): HTMLElement[] {
    const isReachable = (item: HTMLElement): boolean => !item.hidden && !(item as HTMLButtonElement).disabled;
    return ([...this.element.children] as HTMLElement[]).filter(isReachable);
  }

  private stopAt(item: HTMLElement | undefined): void {
    for (const other of this.element.children) (other as HTMLElement).tabIndex = other === item ? 0 : -1;
  }

  private key(event: KeyboardEvent): void {
    const items = this.items();
    const at = items.indexOf(event.target as HTMLElement);
    const step = STEPS[event.key];
    if (!step || at < 0) return;
    event.preventDefault();
    items[step(at, items.length - 1)]?.focus();
  }
}
