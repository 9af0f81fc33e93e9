// The page: reads its data and puts the parts together.

import "./style/page.css";
import "./style/run.css";
import "./style/limit.css";
import "./style/profile.css";
import "./style/owners.css";
import "./style/packets.css";
import "./style/charts.css";
import "./style/blocks.css";

import { ChartsBlock } from "./blocks/block.ts";
import { DocumentView } from "./blocks/document.ts";
import { diffPart } from "./diff.ts";
import { breakdownPart } from "./breakdown.ts";
import { checksPart } from "./checks.ts";
import { h } from "./dom.ts";
import { faultsPart } from "./faults.ts";
import { pageHeader, scenario, tiles } from "./header.ts";
import { limitPart } from "./limit.ts";
import { packetsPart } from "./packets.ts";
import { profilePart } from "./profile.ts";
import { startTheme } from "./theme.ts";
import type { PageData } from "./wire.ts";

const VERSION = 2;

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
    for (const tick of data.ticks ?? []) view.tick(tick);
    return;
  }
  const parts: (HTMLElement | null)[] = [pageHeader(data)];
  if (data.limit) parts.push(limitPart(data.limit));
  parts.push(tiles(data.figures));
  if (data.run) parts.push(checksPart(data.run, data.checks));
  if (data.run) parts.push(faultsPart(data.run));
  if (data.run) parts.push(breakdownPart(data.run));
  if (data.charts) parts.push(h("section", { "aria-label": "Over time" }, new ChartsBlock({ id: "charts", ...data.charts }).element));
  if (data.packets) parts.push(packetsPart(data.packets));
  if (data.profile) parts.push(...profilePart(data.profile));
  if (data.diff) parts.push(...diffPart(data.diff));
  if (data.run) parts.push(scenario(data.run));
  page.append(...parts.filter((part) => part !== null));
}

start();
