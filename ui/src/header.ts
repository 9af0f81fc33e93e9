// The top of the page: the run or the node, its place, its end, its losses, and the main figures. The bottom: the
// meaning of the losses, the scenario, the maker.

import { h } from "./dom.ts";
import { bytes, duration, inUnit, moment, percent, whole } from "./format.ts";
import { themeButton } from "./theme.ts";
import type { Capture, Check, Figure, PageData, RunRecord } from "./wire.ts";

/** Losses and doubts at the top; all of them stand below. */
const FIRST_NOTICES = 3;

const PROFILES: Record<string, string> = { cpu: "CPU profile", "off-cpu": "Time off the CPU" };

/** Names a profile by its event. */
export function profileTitle(event: string): string {
  return PROFILES[event] ?? `Profile of ${event}`;
}

export function pageHeader(data: PageData): HTMLElement {
  const { run, profile } = data;
  const title = run?.name ?? (data.diff ? `${data.diff.before.name} against ${data.diff.after.name}` : profile ? bareTitle(profile.event, profile.capture) : "Nothing to show");
  return h(
    "header",
    { class: "page-header" },
    h(
      "div",
      { class: "title-line" },
      h("h1", {}, title),
      run && verdict(run),
      run !== null && run.description !== "" && h("p", { class: "description", title: run.description }, run.description),
    ),
    run?.verdict.reason ? h("p", { class: "reason" }, run.verdict.reason) : null,
    run ? runFacts(run) : profile && nodeFacts(profile.capture),
    run && notices(run, data.checks),
  );
}

function bareTitle(event: string, { node }: Capture): string {
  return node ? `${profileTitle(event)} of ${node}` : profileTitle(event);
}

function verdict(run: RunRecord): HTMLElement {
  const { kind } = run.verdict;
  return h("span", { class: "verdict", "data-verdict": kind }, kind);
}

function factLine(facts: (string | false | undefined)[]): HTMLElement {
  const shown = facts.filter((fact): fact is string => Boolean(fact));
  return h("ul", { class: "facts run-facts" }, ...shown.map((fact) => h("li", {}, fact)));
}

function runFacts(run: RunRecord): HTMLElement {
  const { broker, machine } = run;
  const memory = machine["memory-bytes"] > 0 ? `, ${bytes(machine["memory-bytes"])}` : "";
  return factLine([
    `${broker.product} ${broker.version}`.trim() || "unknown broker",
    broker.platform,
    [broker["cluster-name"], broker.address].filter(Boolean).join(" at ") + (broker.throwaway ? " (throwaway)" : ""),
    `load of ${duration(run["duration-nanos"] / 1e9)} from ${moment(run["started-unix-nanos"])}`,
    machine.cpus > 0 && `${whole(machine.cpus)} CPUs${memory}`,
    machine.cpu,
    [machine.distribution, machine.kernel].filter(Boolean).join(", "),
  ]);
}

/** Says what was recorded, where and how. */
function nodeFacts(capture: Capture): HTMLElement {
  const period = capture["period-nanos"];
  return factLine([
    capture.rabbitmq && `RabbitMQ ${capture.rabbitmq}`,
    capture["otp-release"] && `Erlang/OTP ${capture["otp-release"]}`,
    capture["node-pid"] > 0 && `pid ${capture["node-pid"]}`,
    capture["duration-nanos"] > 0 && `recorded for ${duration(capture["duration-nanos"] / 1e9)}${period > 0 ? ` at ${whole(1e9 / period)} Hz` : ""}`,
    capture["started-unix-nanos"] > 0 && `from ${moment(capture["started-unix-nanos"])}`,
    capture.cpus > 0 && `${capture.cpus} CPU${capture.cpus === 1 ? "" : "s"}`,
  ]);
}

/** Lists doubts and losses in a line each. */
function notices(run: RunRecord, checks: Check[]): HTMLElement {
  const doubts = checks.filter((check) => check.doubtful).map((check) => h("li", { class: "doubt" }, check.sentence));
  const all = [...doubts, ...run.losses.map((loss) => h("li", {}, lossSentence(loss)))];
  if (all.length === 0) return h("p", { class: "no-losses" }, "The recording is complete: nothing was lost.");
  const more = all.length - FIRST_NOTICES;
  const rest = more > 0 && h("li", {}, `${whole(more)} more below.`);
  return h("ul", { class: "losses", "aria-label": "Losses and doubts" }, ...all.slice(0, FIRST_NOTICES), rest);
}

function lossSentence(loss: RunRecord["losses"][number]): string {
  const of = loss.of > 0 ? ` of ${whole(loss.of)}` : "";
  const share = loss.of > 0 ? ` (${percent(loss.count / loss.of)})` : "";
  return `Not recorded: ${whole(loss.count)}${of} ${loss.what}${share}.`;
}

/** Explains the losses; absent if there are none. */
export function lossesPart(run: RunRecord): HTMLElement | null {
  if (run.losses.length === 0) return null;
  const items = run.losses.map((loss) => h("li", {}, h("b", {}, `${lossSentence(loss)} `), loss.meaning));
  return h("section", { "aria-labelledby": "losses-title" }, h("h2", { id: "losses-title" }, "Losses"), h("ul", { class: "losses" }, ...items));
}

/** Shows figures side by side; absent if there are none. */
export function tiles(figures: Figure[], label = "Main figures", links: HTMLElement[] = []): HTMLElement | null {
  if (figures.length + links.length === 0) return null;
  return h("section", { class: "tiles", "aria-label": label }, ...figures.map(tile), ...links);
}

function tile(figure: Figure): HTMLElement {
  const [value, unit] = inUnit(figure.value, figure.unit);
  const of = figure.of === null ? "" : `of ${whole(figure.of)} `;
  const details = figure.details.map((detail) => {
    const [value, unit] = inUnit(detail.value, detail.unit);
    return h("span", {}, `${detail.name} `, h("b", {}, unit ? `${value} ${unit}` : value));
  });
  return h(
    "div",
    { class: "tile", title: figure.meaning },
    h("p", { class: "tile-name" }, figure.name),
    h("p", { class: "value" }, value, h("span", { class: "unit" }, ` ${of}${unit}`)),
    details.length > 0 && h("p", { class: "tile-detail" }, ...details),
  );
}

/** Shows the scenario as resolved, folded. */
export function scenario(run: RunRecord): HTMLElement {
  return h(
    "details",
    { class: "panel scenario" },
    h("summary", {}, "Scenario as resolved"),
    h("pre", { tabindex: "0", role: "region", "aria-label": "Scenario" }, JSON.stringify(run.scenario, null, 2)),
  );
}

export function pageFooter(data: PageData): HTMLElement {
  const version = data.run?.rabbitscope ?? data.rabbitscope;
  return h("footer", { class: "page-footer" }, h("span", { class: "maker" }, `rabbitscope ${version}`), themeButton());
}
