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

/** Sets a text only if it is another one, so that it is not announced again. */
export function say(element: HTMLElement, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

/**
 * Changes the contents of an element into these. Elements of the same kind stay, with focus, scrolling and selection.
 * New listeners get lost.
 */
export function morph(element: Element, contents: Node[]): void {
  const old = [...element.childNodes];
  contents.forEach((next, at) => {
    const before = old[at];
    if (!before) element.append(next);
    else if (before.nodeName !== next.nodeName) before.replaceWith(next);
    else if (before instanceof Element && next instanceof Element) {
      copyAttributes(next, before);
      morph(before, [...next.childNodes]);
    } else if (before.nodeValue !== next.nodeValue) before.nodeValue = next.nodeValue;
  });
  for (const rest of old.slice(contents.length)) rest.remove();
}

function copyAttributes(from: Element, to: Element): void {
  // What a reader opened stays open.
  for (const { name } of [...to.attributes]) if (name !== "open" && !from.hasAttribute(name)) to.removeAttribute(name);
  for (const { name, value } of from.attributes) if (to.getAttribute(name) !== value) to.setAttribute(name, value);
}

/** Makes these elements the children; does nothing if they are, so that focus stays. */
export function place(element: HTMLElement, children: HTMLElement[]): void {
  const isSame = element.childElementCount === children.length && children.every((child, at) => element.children[at] === child);
  if (!isSame) element.replaceChildren(...children);
}

/** Lets a wide table scroll by pointer and by keys. */
export function scrolling(label: string, content: HTMLElement): HTMLElement {
  return h("div", { class: "wide", tabindex: "0", role: "region", "aria-label": label }, content);
}

/** Creates the cell of a table's head; an empty one is no header. */
export function headCell(text: string): HTMLElement {
  return text === "" ? h("td") : h("th", { scope: "col" }, text);
}

/** Calls `change` when an element comes near the window or leaves it. */
export function onSight(element: Element, change: (isNear: boolean) => void): void {
  const see = (entries: IntersectionObserverEntry[]): void => change(entries[entries.length - 1]?.isIntersecting ?? false);
  new IntersectionObserver(see, { rootMargin: "200px" }).observe(element);
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
