// Summary of the packets of a run: main figures, findings, and a link to the full page.

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
    packets.findings.length > 0 ? findings(packets.findings) : h("p", {}, "The rules found nothing."),
    rest(packets.page),
  );
}

export function findings(found: PacketFinding[]): HTMLElement {
  return h("ul", { class: "findings", "aria-label": "Findings" }, ...found.map(finding));
}

function finding(found: PacketFinding): HTMLElement {
  return h(
    "li",
    { class: "finding", "data-severity": found.severity },
    h("h3", {}, h("span", { class: "severity" }, found.severity), ` ${found.sentence}`),
    h("p", {}, found.evidence, h("span", { class: "source" }, ` ${found.connections}; source: ${found.source}.`)),
    found.fix !== "" && h("p", {}, h("b", {}, "What to do: "), found.fix),
    found.places && h("details", {}, h("summary", {}, "Where"), ...found.places.map((place) => h("p", {}, h("code", {}, place)))),
  );
}

function rest(page: string | null): HTMLElement {
  if (page === null) return h("p", { class: "source" }, "See packets.html in the run directory for pictures and connections.");
  return h("p", {}, h("a", { href: page }, "Pictures, frames and connections"));
}
