// The expectations of the run with their results, and the validity of its figures.

import { h, headCell, scrolling } from "./dom.ts";
import type { Check, RunRecord } from "./wire.ts";

export function checksPart(run: RunRecord, checks: Check[]): HTMLElement | null {
  const expectations = run.expectations ?? [];
  if (expectations.length === 0 && checks.length === 0) return null;
  return h(
    "section",
    { class: "checks", "aria-label": "Checks" },
    expectations.length > 0 && expectationTable(expectations),
    ...checks.map((check) => h("p", { class: "check", "data-doubtful": check.doubtful }, check.sentence)),
  );
}

function expectationTable(expectations: NonNullable<RunRecord["expectations"]>): HTMLElement {
  const rows = expectations.map((expectation) =>
    h(
      "tr",
      { "data-passed": String(expectation.passed) },
      h("td", {}, expectation.text),
      h("td", {}, expectation.measured ?? "not measured"),
      h("td", {}, expectation.passed ? "as expected" : "not as expected"),
    ),
  );
  const table = h(
    "table",
    { class: "expectations" },
    h("thead", {}, h("tr", {}, ...["Expected", "Measured", ""].map(headCell))),
    h("tbody", {}, ...rows),
  );
  return scrolling("Expectations", table);
}
