// The page: reads its data and puts the parts together.

import "./style/page.css";
import "./style/run.css";
import "./style/limit.css";
import "./style/profile.css";
import "./style/owners.css";
import "./style/packets.css";

import { runCharts } from "./charts/run.ts";
import { diffPart } from "./diff.ts";
import { breakdownPart } from "./breakdown.ts";
import { checksPart } from "./checks.ts";
import { readColumns } from "./columns/read.ts";
import { h } from "./dom.ts";
import { faultsPart } from "./faults.ts";
import { pageHeader, scenario, tiles } from "./header.ts";
import { limitPart } from "./limit.ts";
import { packetsPart } from "./packets.ts";
import { profilePart } from "./profile.ts";
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
  const parts: (HTMLElement | null)[] = [pageHeader(data)];
  if (data.limit) parts.push(limitPart(data.limit));
  parts.push(tiles(data.figures));
  if (data.run) parts.push(checksPart(data.run, data.checks));
  if (data.run) parts.push(faultsPart(data.run));
  if (data.run) parts.push(breakdownPart(data.run));
  if (data.series) parts.push(runCharts(data.run, data.series, data.spectrum));
  if (data.packets) parts.push(packetsPart(data.packets));
  if (data.profile || data.diff) parts.push(stacksPart(page, data));
  if (data.run) parts.push(scenario(data.run));
  page.append(...parts.filter((part) => part !== null));
}

/** Returns the place of the profile, which fills as soon as the stacks are read. */
function stacksPart(page: HTMLElement, data: PageData): HTMLElement {
  const place = h("p", { class: "panel", role: "status" }, "Reading the stacks …");
  page.setAttribute("aria-busy", "true");
  readColumns()
    .then((columns) => {
      const profile = data.profile ? profilePart(data.profile, columns) : [];
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
