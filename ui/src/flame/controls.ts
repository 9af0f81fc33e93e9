// The controls above the graph: search field, buttons, legend.

import { h, say } from "../dom.ts";
import { amount, percent } from "../format.ts";
import { type Choice, toFragment } from "../link.ts";
import { Toolbar } from "../toolbar.ts";
import type { Model } from "./model.ts";

export interface ControlActions {
  search(text: string): void;
  turn(): void;
  openAll(): void;
  around(): void;
  view(view: Choice["view"]): void;
  /** Compares by shares, or by costs per message. */
  shares(isWanted: boolean): void;
  reset(): void;
}

export interface Controls {
  search: HTMLElement;
  buttons: HTMLElement;
  legend: HTMLElement;
  show(choice: Choice, isZoomed: boolean): void;
  /** Reacts to a change of the selection. */
  selected(): void;
  /** Shows the result of a search, or its error, beside the field. */
  say(text: string, isProblem: boolean): void;
  focusSearch(): void;
  isSearch(target: EventTarget | null): boolean;
}

const VIEWS: [Choice["view"], string, string][] = [
  ["", "Flame graph", "Stacks from the root down; width is weight"],
  ["tree", "Call tree", "Functions with their callees as rows with numbers"],
  ["inverted", "Inverted", "Functions in which stacks end, with their callers as rows"],
];

export function buildControls(model: Model, actions: ControlActions): Controls {
  const field = h("input", {
    type: "search",
    class: "search",
    placeholder: "Search functions  ( / )",
    "aria-label": "Search functions by regular expression",
    "aria-describedby": "search-result",
    spellcheck: "false",
    autocomplete: "off",
    input: () => actions.search(field.value),
  });
  const result = h("output", { id: "search-result", class: "search-result" });
  const views = VIEWS.map(([view, name, title]) => toggle(name, title, () => actions.view(view)));
  const turn = toggle("Root at bottom", "Flame graph instead of icicle graph", actions.turn);
  const open = toggle("Open recursion", "Show each activation of a recursive function", actions.openAll);
  const around = toggle("Callers and callees", "All callers and callees of the zoomed function ( S )", actions.around);
  const reset = h("button", { type: "button", click: actions.reset }, "Reset");
  const measures = [false, true].map((shares) =>
    toggle(shares ? "Shares" : "Cost per message", shares ? "Share of the whole on each side" : "Cost for each message", () => actions.shares(shares)),
  );
  const legends = h("div", {}, legend(model));
  const buttons = new Toolbar("Pictures", "buttons", ...(model.cost ? measures : []), ...views, around, turn, open, reset);
  return {
    search: h("div", { class: "search-box" }, field, result),
    buttons: buttons.element,
    legend: legends,
    show(choice, isZoomed) {
      if (field.value !== choice.search) field.value = choice.search;
      turn.setAttribute("aria-pressed", String(choice.flame));
      around.setAttribute("aria-pressed", String(choice.around !== ""));
      around.disabled = !isZoomed && !choice.around;
      views.forEach((button, at) => {
        button.setAttribute("aria-pressed", String(choice.around === "" && choice.view === VIEWS[at]?.[0]));
      });
      measures.forEach((button, at) => button.setAttribute("aria-pressed", String(choice.shares === (at === 1))));
      open.hidden = !model.hasRecursion;
      turn.hidden = choice.around !== "" || choice.view !== "";
      open.setAttribute("aria-pressed", String(choice.openAll));
      reset.disabled = toFragment(choice, 1) === "";
      buttons.refresh();
    },
    selected() {
      legends.replaceChildren(legend(model));
    },
    say(text, isProblem) {
      // A change of the profile is no reason to speak.
      result.setAttribute("aria-live", model.isRolling ? "off" : "polite");
      say(result, text);
      result.classList.toggle("problem", isProblem);
      field.setAttribute("aria-invalid", String(isProblem));
    },
    focusSearch() {
      field.focus();
      field.select();
    },
    isSearch: (target) => target === field,
  };
}

function toggle(name: string, title: string, click: () => void): HTMLButtonElement {
  return h("button", { type: "button", "aria-pressed": "false", title, click }, name);
}

/** Explains the colours: kinds, or changes in a comparison. */
function legend(model: Model): HTMLElement {
  return model.measure ? changeLegend(model.measure.name) : kindLegend(model);
}

/** Explains the colours of change, from less to more. */
function changeLegend(what: string): HTMLElement {
  const item = (change: string, text: string): HTMLElement =>
    h("li", {}, h("span", { class: "chip", "data-change": change, "aria-hidden": "true" }), text);
  return h(
    "ul",
    { class: "legend", "aria-label": "Colours of change" },
    item("less", `smaller ${what} after`),
    item("same", "no change, or within noise"),
    item("more", `larger ${what} after`),
    h("li", {}, "faint: a small change"),
    h("li", {}, "width: mean of both shares, so that vanished frames stay visible"),
  );
}

/** Lists the colours of kinds with the share of stacks whose innermost frame is of each. */
function kindLegend(model: Model): HTMLElement {
  const items = model.weightByKind().map(({ kind, name, weight }) =>
    h(
      "li",
      { title: `${amount(weight, model.unit)} end in frames of this kind, which others may have called` },
      h("span", { class: "chip", "data-kind": kind, "aria-hidden": "true" }),
      name,
      h("span", { class: "legend-share" }, percent(model.total > 0 ? weight / model.total : 0)),
    ),
  );
  const lead = h("li", {}, "Stacks end in:");
  return h("ul", { class: "legend", "aria-label": "Kinds of frames, and the share of stacks that end in each" }, lead, ...items);
}
