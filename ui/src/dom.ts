// Creation of elements. The only place that sets attributes and children.

type Child = Node | string | null | undefined | false;
type Attributes = Record<string, string | number | boolean | null | ((event: never) => void)>;

/**
 * Creates an HTML element. Functions become listeners, `true` an empty attribute, `false` and `null` none.
 */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  return fill(document.createElement(tag), attributes, children);
}

/** Creates an SVG element in the same way. */
export function s<K extends keyof SVGElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): SVGElementTagNameMap[K] {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

function fill<E extends Element>(element: E, attributes: Attributes, children: Child[]): E {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name, value as EventListener);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null) element.setAttribute(name, String(value));
  }
  element.append(...children.filter((child): child is Node | string => Boolean(child)));
  return element;
}

/** Lets a wide table scroll by pointer and by keys. */
export function scrolling(label: string, content: HTMLElement): HTMLElement {
  return h("div", { class: "wide", tabindex: "0", role: "region", "aria-label": label }, content);
}

/** Creates the cell of a table's head; an empty one is no header. */
export function headCell(text: string): HTMLElement {
  return text === "" ? h("td") : h("th", { scope: "col" }, text);
}

/** Calls `draw` with the width of `element` now and at every change. */
export function onWidth(element: Element, draw: (width: number) => void): void {
  let last = 0;
  new ResizeObserver(([entry]) => {
    const width = Math.floor(entry?.contentRect.width ?? 0);
    if (width === 0 || width === last) return;
    last = width;
    draw(width);
  }).observe(element);
}
