// The start of every page.

import { h } from "./dom.ts";
import { startTheme } from "./theme.ts";
import { pageData, type PageData } from "./wire.ts";

/** Shows the data of the page with `show`. A problem stands on the page. */
export function start(show: (page: HTMLElement, data: PageData) => void): void {
  const page = document.getElementById("page") as HTMLElement;
  try {
    startTheme();
    show(page, pageData(document));
  } catch (problem) {
    page.append(h("p", {}, problem instanceof Error ? problem.message : String(problem)));
    throw problem;
  }
}
