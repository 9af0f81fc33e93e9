// The charts of a run.

import { h } from "../dom.ts";
import { digits, nanos, short, shortNanos, whole } from "../format.ts";
import type { ChartData, Column, LatencyColumns, RunRecord, Series, Spectrum } from "../wire.ts";
import { chart, type ChartSpec, type Line } from "./chart.ts";
import { spansKey, spansOf } from "./spans.ts";

export function runCharts(run: RunRecord | null, series: Series, spectrum: Spectrum | null): HTMLElement {
  const last = series.at[series.at.length - 1] ?? 0;
  const end = run ? Math.max(run["duration-nanos"] / 1e9, last) : last + 0.5;
  const spans = spansOf(run);
  const base = { at: series.at, end, window: profileWindow(run), spans };
  const specs: ChartSpec[] = [
    { ...base, ...throughput(series) },
    { ...base, ...latency("Confirm latency", series.confirm) },
    { ...base, ...latency("End-to-end latency", series["end-to-end"]) },
    { ...base, ...cpu(series) },
    { ...base, ...memory(series) },
    ...series.more.map((data) => ({ ...base, ...more(data) })),
    ...(spectrum ? [spectrumChart(spectrum)] : []),
  ];
  const drawn = specs.filter((spec) => spec.lines.length > 0);
  const section = h("section", { class: "charts", "aria-label": "Over time" }, spansKey(spans), ...drawn.map(chart));
  section.style.setProperty("--columns", String(drawn.length > 4 ? 3 : drawn.length));
  return section;
}

function profileWindow(run: RunRecord | null): [number, number] | null {
  if (!run?.profile) return null;
  const from = run.profile["offset-nanos"] / 1e9;
  return [from, from + run.profile.capture["duration-nanos"] / 1e9];
}

/** Draws latency by percentile: each nine takes the same room. */
function spectrumChart(spectrum: Spectrum): ChartSpec {
  const named = new Map(spectrum.names.map((name, index) => [name, spectrum.at[index] as number]));
  const marks = ["p50", "p90", "p99", "p99.9", "p99.99", "p99.999"]
    .filter((name) => named.has(name))
    .map((name): [number, string] => [named.get(name) as number, name]);
  return {
    title: "Latency by percentile, log scale",
    at: spectrum.at,
    end: spectrum.at[spectrum.at.length - 1] ?? 1,
    window: null,
    spans: [],
    lines: spectrum.lines,
    log: true,
    marks,
    where: (index) => spectrum.names[index] ?? "",
    text: (value, axis) => (axis ? shortNanos(value) : nanos(value)),
  };
}

function more(data: ChartData): Drawn {
  const isTime = data.unit === "nanoseconds";
  return {
    title: data.title,
    lines: data.lines,
    log: data.log,
    text: (value, axis) => (isTime ? (axis ? shortNanos(value) : nanos(value)) : axis ? short(value) : whole(value)),
  };
}

type Drawn = Pick<ChartSpec, "title" | "lines" | "log" | "text">;

function throughput(series: Series): Drawn {
  const lines = [
    { name: "accepted", values: series.accepted ?? [] },
    { name: "written", values: series.published },
    { name: "confirmed", values: series.confirmed },
    { name: "consumed", values: series.consumed },
  ];
  return {
    title: "Throughput, messages a second",
    lines: lines.filter((line) => line.values.some((value) => value > 0)),
    log: false,
    text: (value, axis) => (axis ? short(value) : whole(value)),
  };
}

function latency(title: string, columns: LatencyColumns): Drawn {
  const lines = [
    { name: "p50", values: columns.p50 },
    { name: "p99", values: columns.p99 },
    { name: "max", values: columns.max },
  ];
  return { title: `${title}, log scale`, lines: present(lines), log: true, text: (value, axis) => (axis ? shortNanos(value) : nanos(value)) };
}

function cpu(series: Series): Drawn {
  const lines = [
    { name: "broker", values: series["broker-cpu"] },
    { name: "rabbitscope", values: series["client-cpu"] },
  ];
  return {
    title: "CPU, cores",
    lines: present(lines),
    log: false,
    text: (value, axis) => (axis ? short(value) : digits(value)),
  };
}

function memory(series: Series): Drawn {
  const mebibytes = series["broker-rss"].map((value) => value && value / 2 ** 20);
  return {
    title: "Memory of the broker, MiB",
    lines: present([{ name: "resident", values: mebibytes }]),
    log: false,
    text: (value, axis) => (axis ? short(value) : digits(value)),
  };
}

function present(lines: Line[]): Line[] {
  const isThere = (values: Column): boolean => values.some((value) => value !== null);
  return lines.filter((line) => isThere(line.values));
}
