// The page: reads its data and puts the parts together.

import "./style/page.css";
import "./style/header.css";
import "./style/run.css";
import "./style/limit.css";
import "./style/profile.css";
import "./style/tables.css";
import "./style/owners.css";
import "./style/frames.css";
import "./style/packets.css";
import "./style/charts.css";
import "./style/blocks.css";
import "./style/fields.css";

import { ChartsBlock } from "./blocks/block.ts";
import { DocumentView } from "./blocks/document.ts";
import { diffPart } from "./diff.ts";
import { breakdownPart } from "./breakdown.ts";
import { checksPart } from "./checks.ts";
import { readColumns } from "./columns/read.ts";
import { h } from "./dom.ts";
import { faultsPart } from "./faults.ts";
import { lossesPart, pageFooter, pageHeader, scenario, tiles } from "./header.ts";
import { findingsPart, limitPart } from "./limit.ts";
import { packetsPart } from "./packets.ts";
import { profilePart } from "./profile.ts";
import { hasWaits, linksTo } from "./waits.ts";
import { startTheme } from "./theme.ts";
import type { PageData } from "./wire.ts";

const VERSION = 3;

function start(): void {
  startTheme();
  const page = document.getElementById("page") as HTMLElement;
  const data = JSON.parse(document.getElementById("data")?.textContent ?? "{}") as PageData;
  if (data.version !== VERSION) {
    page.append(h("p", {}, `This page cannot show data of version ${data.version}.`));
    return;
  }
  if (data.document) {
    const view = new DocumentView(data.document, `rabbitscope ${data.rabbitscope}`);
    page.append(...view.elements);
    if (data.diff) page.append(stacksPart(page, data));
    for (const tick of data.ticks ?? []) view.tick(tick);
    return;
  }
  page.append(...partsOf(page, data).filter((part) => part instanceof HTMLElement));
}

/** Returns the parts in the order of a reader's questions: what is it, how much, where, whose, when. */
function partsOf(page: HTMLElement, data: PageData): (HTMLElement | null)[] {
  const { run, limit, charts, packets, profile, diff } = data;
  return [
    pageHeader(data),
    limit && limitPart(limit),
    tiles(data.figures, "Main figures", profile && hasWaits(profile) ? [] : linksTo(data.others)),
    profile || diff ? stacksPart(page, data) : null,
    charts && h("section", { "aria-label": "Over time" }, new ChartsBlock({ id: "charts", ...charts }).element),
    limit && findingsPart(limit),
    run && checksPart(run, data.checks),
    run && faultsPart(run),
    run && breakdownPart(run),
    packets && packetsPart(packets),
    tiles(data["more-figures"], "Load generator and sockets"),
    run && lossesPart(run),
    run && scenario(run),
    pageFooter(data),
  ];
}

/** Returns the place of the profile, which fills as soon as the stacks are read. */
function stacksPart(page: HTMLElement, data: PageData): HTMLElement {
  const place = h("p", { class: "panel", role: "status" }, "Reading the stacks …");
  page.setAttribute("aria-busy", "true");
  readColumns()
    .then((columns) => {
      const profile = data.profile ? profilePart(data.profile, columns, data.others) : [];
      place.replaceWith(...profile, ...(data.diff ? diffPart(data.diff, columns) : []));
    })
    .catch((problem: unknown) => {
      const reason = problem instanceof Error ? problem.message : String(problem);
      place.textContent = `The stacks cannot be shown: ${reason}.`;
    })
    .finally(() => page.removeAttribute("aria-busy"));
  return place;
}

start();
