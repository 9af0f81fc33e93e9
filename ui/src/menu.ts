// A menu beside the pointer or the cursor, with keys: arrows move, Enter chooses, Escape closes.

import { h } from "./dom.ts";

export interface Item {
  name: string;
  act(): void;
}

/** Opens a menu with a title; afterwards the focus returns to `origin`. */
export function openMenu(title: string, items: Item[], x: number, y: number, origin: HTMLElement): void {
  const buttons = items.map(({ name, act }) =>
    h("button", { type: "button", role: "menuitem", tabindex: "-1", click: () => close(act) }, name),
  );
  const menu = h("div", { class: "menu", role: "menu", "aria-label": title }, h("p", { class: "menu-title", role: "presentation" }, title), ...buttons);
  const outside = (event: Event): void => {
    if (!menu.contains(event.target as Node)) close();
  };
  function close(act?: () => void): void {
    removeEventListener("pointerdown", outside, true);
    removeEventListener("scroll", outside, true);
    menu.remove();
    origin.focus({ preventScroll: true });
    act?.();
  }
  menu.addEventListener("keydown", (event) => {
    const last = buttons.length - 1;
    const at = buttons.indexOf(document.activeElement as HTMLButtonElement);
    const next = { ArrowDown: at === last ? 0 : at + 1, ArrowUp: at <= 0 ? last : at - 1, Home: 0, End: last }[event.key];
    event.stopPropagation();
    if (next !== undefined) buttons[next]?.focus();
    else if (event.key === "Escape" || event.key === "Tab") close();
    else return;
    event.preventDefault();
  });
  menu.addEventListener("contextmenu", (event) => event.preventDefault());
  (document.querySelector("main") ?? document.body).append(menu);
  menu.style.left = `${Math.max(4, Math.min(x, innerWidth - menu.offsetWidth - 4))}px`;
  menu.style.top = `${Math.max(4, Math.min(y, innerHeight - menu.offsetHeight - 4))}px`;
  buttons[0]?.focus({ preventScroll: true });
  addEventListener("pointerdown", outside, true);
  addEventListener("scroll", outside, true);
}

/** Puts a text into the clipboard. Returns whether the browser did so. */
export async function copy(text: string): Promise<boolean> {
  const byHand = (): boolean => {
    const field = h("textarea", { readonly: true, "aria-hidden": "true" }, text);
    document.body.append(field);
    field.select();
    const isCopied = document.execCommand("copy");
    field.remove();
    return isCopied;
  };
  if (!navigator.clipboard) return byHand();
  return navigator.clipboard.writeText(text).then(() => true, byHand);
}
