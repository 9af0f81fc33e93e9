// Reliability of the profile, and facts about its recording.

import { h } from "./dom.ts";
import { amount, duration, moment, percent, whole } from "./format.ts";
import type { Capture, Quality } from "./wire.ts";

/** A recording in the page's form. */
interface Recording {
  total: number;
  /** Weight of the shown part; the whole if absent. */
  selected?: number;
  unit: string;
  capture: Capture;
  quality: Quality;
  sentence: string;
}

const PARTS: [keyof Quality, string][] = [
  ["complete", "complete"],
  ["truncated", "truncated"],
  ["broken", "broken"],
  ["no-process", "no process"],
  ["lost", "lost"],
];

/** Shows a bar of all samples by outcome, the sentence, and the recorder's notes. */
export function qualityBar(profile: Recording): HTMLElement {
  const { quality, sentence } = profile;
  const known = PARTS.filter(([key]) => quality[key] > 0);
  const bar = h("div", { class: "quality-bar", "aria-hidden": "true" });
  for (const [key, name] of known) {
    const part = h("span", { "data-outcome": key, title: `${name}: ${whole(quality[key])} samples` });
    part.style.flexGrow = String(quality[key]);
    bar.append(part);
  }
  const notes = profile.capture.notes.map((note) => h("li", {}, note));
  return h(
    "div",
    { class: "quality" },
    known.length > 0 && bar,
    h("p", { class: "quality-sentence" }, h("b", {}, "Stack quality: "), `${sentence}.`),
    notes.length > 0 && h("ul", { class: "notes" }, ...notes),
  );
}

/** Describes the quality of the stacks in one line, like `quality.rs` of crates/analysis, without losses. */
export function qualitySentence(quality: Quality): string {
  const { complete, truncated, broken, unsymbolised } = quality;
  const { "no-process": without, "no-function": noFunctions } = quality;
  const onProcess = complete + truncated + broken;
  if (onProcess + without === 0) return "nothing is known, as no sample says how complete its stack is";
  const samples = (count: number): string => `${whole(count)} sample${count === 1 ? "" : "s"}`;
  const share = (part: number): string => percent(part / onProcess);
  const noFunction = noFunctions > 0 ? `, ${share(noFunctions)} show no function of the process` : "";
  const ofProcesses =
    onProcess === 0
      ? "no sample on an Erlang process"
      : `${share(complete)} of ${samples(onProcess)} on Erlang processes reach the process's root, ` +
        `${share(truncated)} truncated at the recorder's limit, ${share(broken)} broken${noFunction}`;
  const unnamed = percent(unsymbolised / (onProcess + without));
  return `${ofProcesses}; ${samples(without)} without a process; ${unnamed} have an unsymbolized frame`;
}

/** Returns a warning to put before figures, if there is one. */
export function cautionOf(caution: string | null): HTMLElement[] {
  return caution ? [h("p", { class: "caution", role: "note" }, caution)] : [];
}

function howMuch({ total, selected, unit }: Recording): string {
  return selected === undefined ? amount(total, unit) : `${amount(selected, unit)} of ${amount(total, unit)}`;
}

/** Lists recorder, clock, rate, length. */
export function captureFacts(profile: Recording): HTMLElement {
  const { capture } = profile;
  const facts = [
    howMuch(profile),
    capture.recorder && `recorder ${capture.recorder}`,
    capture.clock && `clock ${capture.clock}`,
    capture["period-nanos"] > 0 && `${whole(1e9 / capture["period-nanos"])} Hz`,
    capture.cpus > 0 && `${capture.cpus} CPU${capture.cpus === 1 ? "" : "s"}`,
    capture["duration-nanos"] > 0 && duration(capture["duration-nanos"] / 1e9),
    capture["otp-release"] && `OTP ${capture["otp-release"]}`,
    capture["node-pid"] > 0 && `pid ${capture["node-pid"]}`,
    capture["started-unix-nanos"] > 0 && moment(capture["started-unix-nanos"]),
  ];
  const items = facts.filter((fact): fact is string => Boolean(fact)).map((fact) => h("li", {}, fact));
  return h("ul", { class: "facts" }, ...items);
}
