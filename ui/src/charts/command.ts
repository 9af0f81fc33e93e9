// The command that makes the page of a cell, and its place below the chart, where it can be copied.

import { h, place } from "../dom.ts";
import { copy } from "../menu.ts";
import type { Item } from "./items.ts";

/** Returns the command line of a cell; empty if there is none. Its times select exactly the windows of the cell. */
export function commandOf({ mark, index }: Item): string {
  const row = mark.command?.rows[mark.y?.[index] ?? -1];
  if (!mark.command || row === undefined) return "";
  const { words, file } = mark.command;
  const time = (nanos: number | null | undefined): string => new Date((row + (nanos ?? 0) / 1e9) * 1000).toISOString().replace(".000", "");
  const [from, to] = [time(mark.x?.[index]), time(mark.to?.[index])];
  return `${words} --from ${from} --to ${to} -o ${file}-${from.replaceAll(/[-:]/g, "")}.html`;
}

/** A command with a button that copies it; empty until one is chosen. */
export class CommandLine {
  readonly element = h("div", { class: "chart-command" });
  private readonly text = h("code");
  private readonly said = h("span", { role: "status" });
  private readonly button = h("button", { type: "button", click: () => void this.copied() }, "Copy");

  show(command: string): void {
    this.text.textContent = command;
    this.said.textContent = "";
    place(this.element, [this.text, this.button, this.said]);
  }

  private async copied(): Promise<void> {
    const command = this.text.textContent;
    const isCopied = await copy(command);
    // Another command may be shown by now.
    if (this.text.textContent === command) this.said.textContent = isCopied ? "copied" : "not copied: select the text";
  }
}
