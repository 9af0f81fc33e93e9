// The limit of the run and its costly findings: in short at the top, with evidence and changes below.

import { h } from "./dom.ts";
import type { Brief, BriefFinding } from "./wire.ts";

/** Findings at the top; the section below has all of them. */
const FIRST_FINDINGS = 3;

/** Says the limit, and a line for each of the first findings. */
export function limitPart(brief: Brief, first = FIRST_FINDINGS): HTMLElement {
  const shown = brief.findings.slice(0, first);
  const more = brief.findings.length - shown.length + brief["more-findings"];
  const evidence = brief.evidence.length > 0 && h("span", { class: "limit-evidence" }, ` ${brief.evidence.join("; ")}`);
  const rest = more > 0 && h("li", { class: "not-judged" }, `${more} more below`);
  return h(
    "section",
    { class: "limit", "aria-label": "Limit and findings", "data-kind": brief.kind, "data-certainty": brief.certainty },
    h("p", { class: "limit-sentence" }, h("b", {}, "Limit: "), brief.limit, evidence),
    shown.length > 0 && h("ul", { class: "findings-in-short", "aria-label": "Findings in short" }, ...shown.map(inShort), rest),
  );
}

function inShort(found: BriefFinding): HTMLElement {
  const text = ` ${found.sentence}`;
  return h("li", { "data-severity": found.severity, title: found.change }, h("span", { class: "severity" }, found.severity), text);
}

/** Shows the findings with evidence and changes, and the rules that were not judged; absent without any of them. */
export function findingsPart(brief: Brief): HTMLElement | null {
  const { findings, "more-findings": more, "not-judged": notJudged } = brief;
  if (findings.length === 0 && notJudged === "") return null;
  return h(
    "section",
    { class: "panel limit-findings", "aria-labelledby": "findings-title" },
    h("h2", { id: "findings-title" }, "Findings"),
    findings.length > 0 && h("ul", { class: "findings" }, ...findings.map(finding)),
    more > 0 && h("p", { class: "not-judged" }, `${more} more findings.`),
    notJudged !== "" && h("p", { class: "not-judged" }, `Not judged: ${notJudged}.`),
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
