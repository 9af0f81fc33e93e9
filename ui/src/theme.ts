// Light and dark: the system's choice until the reader makes one, which the browser keeps.

import { h } from "./dom.ts";

export type Theme = "light" | "dark";

const KEY = "rabbitscope-theme";
const systemIsDark = matchMedia("(prefers-color-scheme: dark)");

export function currentTheme(): Theme {
  return document.documentElement.dataset["theme"] === "dark" ? "dark" : "light";
}

/** Calls `listener` at every change of colours. */
export function onTheme(listener: () => void): void {
  document.addEventListener("themechange", listener);
}

/** Restores the choice of an earlier visit, or else follows the system. */
export function startTheme(): void {
  const follow = (): void => apply(stored() ?? (systemIsDark.matches ? "dark" : "light"));
  systemIsDark.addEventListener("change", follow);
  follow();
}

export function themeButton(): HTMLElement {
  const button = h("button", { class: "theme", type: "button", click: toggle });
  const name = (): void => {
    const other = currentTheme() === "dark" ? "light" : "dark";
    button.textContent = other === "dark" ? "Dark" : "Light";
    button.setAttribute("aria-label", `Switch to ${other} colours`);
  };
  name();
  onTheme(name);
  return button;
}

function toggle(): void {
  const next = currentTheme() === "dark" ? "light" : "dark";
  try {
    localStorage.setItem(KEY, next);
  } catch {
    // A page opened from a file may be denied storage. The choice then lasts as long as the page.
  }
  apply(next);
}

function apply(theme: Theme): void {
  document.documentElement.dataset["theme"] = theme;
  document.dispatchEvent(new Event("themechange"));
}

function stored(): Theme | null {
  try {
    const kept = localStorage.getItem(KEY);
    return kept === "light" || kept === "dark" ? kept : null;
  } catch {
    return null;
  }
}
