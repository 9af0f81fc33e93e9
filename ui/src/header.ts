// The top of the page: the run, its place, its end, its losses, and the main figures.

import { h } from "./dom.ts";
import { bytes, duration, inUnit, moment, percent, whole } from "./format.ts";
import { themeButton } from "./theme.ts";
import type { Figure, PageData, RunRecord } from "./wire.ts";

export function pageHeader(data: PageData): HTMLElement {
  const { run, profile } = data;
  const title = run?.name ?? (data.diff ? "Comparison" : profile ? "Profile" : "Nothing to show");
  return h(
    "header",
    { class: "page-header" },
    h(
      "div",
      { class: "title-line" },
      h("h1", {}, title),
      run && verdict(run),
      h("span", { class: "maker" }, `rabbitscope ${run?.rabbitscope ?? data.rabbitscope}`),
      themeButton(),
    ),
    run !== null && run.description !== "" && h("p", { class: "description" }, run.description),
    run?.verdict.reason ? h("p", { class: "reason" }, run.verdict.reason) : null,
    run && runFacts(run),
    run && losses(run),
  );
}

function verdict(run: RunRecord): HTMLElement {
  const { kind } = run.verdict;
  return h("span", { class: "verdict", "data-verdict": kind }, kind);
}

function runFacts(run: RunRecord): HTMLElement {
  const { broker, machine } = run;
  const memory = machine["memory-bytes"] > 0 ? `, ${bytes(machine["memory-bytes"])}` : "";
  const facts: [string, string, string][] = [
    ["Broker", `${broker.product} ${broker.version}`, broker.platform],
    ["Node", broker["cluster-name"] || broker.address, [broker.address, broker.throwaway && "throwaway"].filter(Boolean).join(", ")],
    ["Machine", machine.cpu || machine.kernel, machine.cpus > 0 ? `${whole(machine.cpus)} CPUs${memory}` : ""],
    ["System", machine.distribution, machine.kernel],
    ["Load", duration(run["duration-nanos"] / 1e9), `from ${moment(run["started-unix-nanos"])}`],
  ];
  return h(
    "dl",
    { class: "run-facts" },
    ...facts.map(([name, value, detail]) =>
      h("div", {}, h("dt", {}, name), h("dd", {}, value.trim() || "unknown", detail && h("small", {}, detail))),
    ),
  );
}

function losses(run: RunRecord): HTMLElement {
  if (run.losses.length === 0) return h("p", { class: "no-losses" }, "The recording is complete: nothing was lost.");
  const items = run.losses.map((loss) => {
    const of = loss.of > 0 ? ` of ${whole(loss.of)}` : "";
    const share = loss.of > 0 ? ` (${percent(loss.count / loss.of)})` : "";
    return h("li", {}, h("b", {}, `Not recorded: ${whole(loss.count)}${of} ${loss.what}${share}. `), loss.meaning);
  });
  return h("ul", { class: "losses", "aria-label": "Losses" }, ...items);
}

/** Shows figures side by side; absent if there are none. */
export function tiles(figures: Figure[], label = "Main figures"): HTMLElement | null {
  if (figures.length === 0) return null;
  return h("section", { class: "tiles", "aria-label": label }, ...figures.map(tile));
}

function tile(figure: Figure): HTMLElement {
  const [value, unit] = inUnit(figure.value, figure.unit);
  const details = figure.details.map((detail) => {
    const [value, unit] = inUnit(detail.value, detail.unit);
    return h("div", {}, h("dt", {}, detail.name), h("dd", {}, unit ? `${value} ${unit}` : value));
  });
  return h(
    "article",
    { class: "tile", title: figure.meaning },
    h("h3", {}, figure.name),
    h("p", { class: "value" }, value, h("span", { class: "unit" }, ` ${unit}`)),
    h("dl", {}, ...details),
  );
}

/** Shows the scenario as resolved, folded. */
export function scenario(run: RunRecord): HTMLElement {
  return h(
    "details",
    { class: "panel scenario" },
    h("summary", {}, "Scenario as resolved"),
    h("pre", {}, JSON.stringify(run.scenario, null, 2)),
  );
}
