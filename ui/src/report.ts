// The parts of a report in the order of a reader's questions: what is it, how much, where, whose, when.

import { ChartsBlock } from "./blocks/block.ts";
import { breakdownPart } from "./breakdown.ts";
import { checksPart } from "./checks.ts";
import { h } from "./dom.ts";
import { faultsPart } from "./faults.ts";
import { lossesPart, pageFooter, pageHeader, scenario, tiles } from "./header.ts";
import { findingsPart, limitPart } from "./limit.ts";
import { packetsPart } from "./packets.ts";
import { hasWaits, linksTo } from "./waits.ts";
import type { PageData } from "./wire.ts";

/** Returns the parts, with the elements of the profile or the comparison among them. */
export function reportParts(data: PageData, stacks: HTMLElement[]): HTMLElement[] {
  const { run, limit, charts, packets, profile } = data;
  const parts = [
    pageHeader(data),
    limit && limitPart(limit),
    tiles(data.figures, "Main figures", profile && hasWaits(profile) ? [] : linksTo(data.others)),
    ...stacks,
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
  return parts.filter((part) => part instanceof HTMLElement);
}
