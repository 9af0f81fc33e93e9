// The packets of a run in short: the main figures, the findings, and a link to the page with the rest.

import { h } from "./dom.ts";
import { tiles } from "./header.ts";
import type { PacketFinding, PacketsData } from "./wire.ts";

export function packetsPart(packets: PacketsData): HTMLElement {
  return h(
    "section",
    { class: "panel packets", "aria-label": "Packets" },
    h("h2", {}, "Packets"),
    ...packets.sentences.map((sentence) => h("p", {}, sentence)),
    ...packets.missing.map((sentence) => h("p", { class: "missing" }, sentence)),
    tiles(packets.figures, "Figures of packets"),
    found(packets),
    rest(packets.page),
  );
}

function found(packets: PacketsData): HTMLElement {
  if (packets.findings.length === 0) return h("p", {}, "Nothing was found that the rules know.");
  return h("ul", { class: "findings", "aria-label": "Findings" }, ...packets.findings.map(finding));
}

function finding(it: PacketFinding): HTMLElement {
  return h(
    "li",
    { class: "finding", "data-severity": it.severity },
    h("h3", {}, h("span", { class: "severity" }, it.severity), ` ${it.sentence}`),
    h("p", {}, it.evidence, h("span", { class: "source" }, ` ${it.connections}; source: ${it.source}.`)),
    it.fix !== "" && h("p", {}, h("b", {}, "What to do: "), it.fix),
  );
}

function rest(page: string | null): HTMLElement {
  if (page === null) return h("p", { class: "source" }, "Pictures and connections are in packets.html of the run directory.");
  return h("p", {}, h("a", { href: page }, "Pictures, frames and connections"));
}
