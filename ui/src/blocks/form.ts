// Fields whose values are in the address of the page. The server answers to them, so a change loads the page anew and a
// link opens the same view.

import { h } from "../dom.ts";
import type { FieldData, FormData } from "./data.ts";

/** Key that leads to the first field of text. */
const SEARCH_KEY = "/";

export function formElement({ label, fields }: FormData): HTMLElement {
  const controls = fields.map((field) => ({ field, control: controlOf(field, () => go()) }));
  const go = (): void => {
    const query = new URLSearchParams(location.search);
    for (const { field, control } of controls) {
      if (control.value === "") query.delete(field.name);
      else query.set(field.name, control.value);
    }
    location.assign(`${location.pathname}${query.size > 0 ? `?${query}` : ""}`);
  };
  const text = controls.find(({ field }) => field.options === undefined)?.control;
  document.addEventListener("keydown", (event) => {
    const isTyping = event.target instanceof HTMLInputElement || event.target instanceof HTMLSelectElement;
    if (!text || isTyping || event.key !== SEARCH_KEY || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    text.focus();
    (text as HTMLInputElement).select();
  });
  const parts = controls.map(({ field, control }) => h("label", { "data-kind": field.options ? "choice" : "text" }, field.label, control));
  return h(
    "form",
    {
      class: "fields",
      role: "search",
      "aria-label": label,
      submit: (event: Event) => {
        event.preventDefault();
        go();
      },
    },
    ...parts,
    text ? h("button", { type: "submit" }, "Search") : null,
    fields.some(({ name }) => new URLSearchParams(location.search).has(name)) && h("a", { href: location.pathname }, "Show all"),
  );
}

function controlOf({ name, value, options }: FieldData, changed: () => void): HTMLInputElement | HTMLSelectElement {
  if (!options) return h("input", { type: "search", name, value, autocomplete: "off", spellcheck: "false", title: `Press ${SEARCH_KEY} to search` });
  const known = options.some(([option]) => option === value) ? options : [...options, [value, value] as [string, string]];
  return h("select", { name, change: changed }, ...known.map(([option, text]) => h("option", { value: option, selected: option === value }, text)));
}
