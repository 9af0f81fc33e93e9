// The limit of the run and its costly findings, with the changes that remove them.

import { h } from "./dom.ts";
import type { Brief, BriefFinding } from "./wire.ts";

export function limitPart(brief: Brief): HTMLElement {
  return h(
    "section",
    { class: "limit", "aria-label": "Limit and findings", "data-kind": brief.kind, "data-certainty": brief.certainty },
    h("p", { class: "limit-sentence" }, h("b", {}, "Limit: "), brief.limit),
    brief.evidence.length > 0 && h("p", { class: "limit-evidence" }, brief.evidence.join("; ")),
    brief.findings.length > 0 && h("ul", { class: "findings", "aria-label": "Findings" }, ...brief.findings.map(finding)),
    brief["more-findings"] > 0 && h("p", { class: "not-judged" }, `${brief["more-findings"]} more findings.`),
    brief["not-judged"] !== "" && h("p", { class: "not-judged" }, `Not judged: ${brief["not-judged"]}.`),
  );
}

function finding(found: BriefFinding): HTMLElement {
  return h(
    "li",
    { class: "finding", "data-severity": found.severity },
    h("h3", {}, h("span", { class: "severity" }, found.severity), ` ${found.sentence}`),
    found.evidence !== "" && h("p", {}, `${found.evidence}.`, h("span", { class: "rule" }, ` ${found.rule}`)),
    found.change !== "" && h("p", {}, h("b", {}, "What to do: "), found.change),
  );
}
