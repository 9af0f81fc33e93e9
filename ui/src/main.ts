// The page: reads its data and puts the parts together.

import "./style/all.ts";

import type { DocumentData } from "./blocks/data.ts";
import { DocumentView } from "./blocks/document.ts";
import { readText } from "./columns/read.ts";
import { diffPart } from "./diff.ts";
import { h } from "./dom.ts";
import { ProfileView } from "./profile.ts";
import { reportParts } from "./report.ts";
import { start } from "./start.ts";
import type { PageData } from "./wire.ts";

function showDocument(page: HTMLElement, data: PageData): void {
  const view = new DocumentView(data.document as DocumentData, `rabbitscope ${data.rabbitscope}`);
  page.append(...view.elements);
  if (data.diff) page.append(stacksPart(page, data));
  for (const tick of data.ticks ?? []) view.tick(tick);
}

/** Returns the place of the profile, which fills as soon as the stacks are read. */
function stacksPart(page: HTMLElement, data: PageData): HTMLElement {
  const place = h("p", { class: "panel", role: "status" }, "Reading the stacks …");
  page.setAttribute("aria-busy", "true");
  readText(document.getElementById("columns")?.textContent ?? "")
    .then((columns) => {
      const { profile, diff, others } = data;
      const elements = profile ? new ProfileView({ profile, columns }, others).elements : [];
      place.replaceWith(...elements, ...(diff ? diffPart(diff, columns) : []));
    })
    .catch((problem: unknown) => {
      const reason = problem instanceof Error ? problem.message : String(problem);
      place.textContent = `The stacks cannot be shown: ${reason}.`;
    })
    .finally(() => page.removeAttribute("aria-busy"));
  return place;
}

start((page, data) => {
  if (data.document) showDocument(page, data);
  else page.append(...reportParts(data, data.profile || data.diff ? [stacksPart(page, data)] : []));
});
