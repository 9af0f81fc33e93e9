// The data of the page, as Rust serialises it (crates/web: `page`, `figures`, `checks`; crates/runs: `record`;
// crates/profiles; crates/diagnosis: `brief`). `blocks/data.ts` has documents and charts.

import type { ChartsData, DocumentData, Tick } from "./blocks/data.ts";

const VERSION = 3;

/** Reads the data of a page. Fails with a sentence for another version. */
export function pageData(page: Document): PageData {
  const data = JSON.parse(page.getElementById("data")?.textContent ?? "{}") as PageData;
  if (data.version !== VERSION) throw new Error(`This page cannot show data of version ${data.version}.`);
  return data;
}

export interface PageData {
  version: number;
  rabbitscope: string;
  run: RunRecord | null;
  limit: Brief | null;
  figures: Figure[];
  "more-figures": Figure[];
  others: OtherPage[];
  checks: Check[];
  charts: ChartsData | null;
  packets: PacketsData | null;
  profile: ProfileData | null;
  diff: DiffData | null;
  /** A page of blocks, in place of all other parts. */
  document: DocumentData | null;
  ticks?: Tick[];
  /** A page whose data come from its server. */
  live?: { title: string; profile: boolean };
}

/** The page of another event of the same recording: a file in the same directory. */
export interface OtherPage {
  event: string;
  file: string;
  /** The page shown is not in that directory: it came from the server of a run. */
  isElsewhere?: boolean;
}

/** The limit of the run and its costly findings; texts are escaped, empty ones have nothing to say. */
export interface Brief {
  kind: string;
  certainty: "certain" | "likely" | "uncertain";
  limit: string;
  evidence: string[];
  findings: BriefFinding[];
  "more-findings": number;
  "not-judged": string;
}

export interface BriefFinding {
  rule: string;
  severity: "warning" | "critical";
  sentence: string;
  evidence: string;
  change: string;
}

export type Unit = "per-second" | "bytes-per-second" | "nanoseconds" | "cores" | "bytes" | "share" | "things";

export interface Detail {
  name: string;
  value: number;
  unit: Unit;
}

export interface Figure extends Detail {
  meaning: string;
  /** The whole that the value is a part of. */
  of: number | null;
  details: Detail[];
}

export interface Check {
  sentence: string;
  doubtful: boolean;
}

/** Packets of a run; `missing` has missing sources, with the reason. */
export interface PacketsData {
  page: string | null;
  sentences: string[];
  figures: Figure[];
  findings: PacketFinding[];
  missing: string[];
}

export interface PacketFinding {
  severity: "note" | "warning" | "critical";
  sentence: string;
  evidence: string;
  source: string;
  fix: string;
  connections: string;
  /** The worst connections, and the first packets as a filter. */
  places?: string[];
}

export interface Capture {
  recorder: string;
  clock: string;
  node?: string;
  rabbitmq?: string;
  "node-pid": number;
  "otp-release": string;
  "started-unix-nanos": number;
  "duration-nanos": number;
  "period-nanos": number;
  cpus: number;
  notes: string[];
}

export interface Quality {
  complete: number;
  truncated: number;
  broken: number;
  "no-process": number;
  "no-function": number;
  unsymbolised: number;
  "not-unwound": number;
  lost: number;
}

// The class of a frame in Rust: its kind of code, or the VM's activity there.
export type FrameKind =
  | "thread"
  | "erlang"
  | "bif"
  | "vm-fragment"
  | "native"
  | "kernel"
  | "garbage-collection"
  | "scheduling"
  | "sending"
  | "lock-wait"
  | "waiting"
  | "runnable";

export interface ProfileData {
  event: string;
  unit: string;
  total: number;
  capture: Capture;
  quality: Quality;
  sentence: string;
  caution: string | null;
  kinds: FrameKind[];
  functions: { frame: number[]; own: number[]; self: number[]; total: number[] };
  lines: LineColumns;
  noise: Noise;
  owners: OwnersData;
}

// The error rate of all comparisons together; counted samples per unit of weight, on both sides; runs on both
// sides if the noise is that between runs.
export interface Noise {
  rate: number;
  counts: [number, number];
  runs: [number, number] | null;
  // Set by the page for costs: weights of the whole count this many times.
  exposure?: number;
}

// Function by function in the order of the source; line 0 is the part of a function without a line.
export interface LineColumns {
  files: string[];
  frame: number[];
  file: number[];
  line: number[];
  own: number[];
  total: number[];
}

// Owner 0 is no process. `of` has the number of each owner's label, -1 for none.
export interface OwnersData {
  processes: number[];
  dimensions: { name: string; labels: string[]; of: number[] }[];
  "step-nanos": number;
  steps: number[];
  labels: LabelColumns;
  counted: boolean;
}

export type WaitState = "blocked" | "runnable" | "idle";

// Labels of records besides stack and owner; one entry for each label.
export interface LabelColumns {
  threads: string[];
  thread: number[];
  outcome: string[];
  unsymbolised: boolean[];
  "no-function": boolean[];
  state: (WaitState | null)[];
}

// Two profiles against each other.
export interface DiffData {
  event: string;
  unit: string;
  before: DiffSide;
  after: DiffSide;
  kinds: FrameKind[];
  changes: ChangeColumns;
  cost: CostOfMessages | null;
  noise: Noise;
}

// Between two runs with known rates: the cost of a unit of weight per message, on both sides.
export interface CostOfMessages {
  what: string;
  unit: string;
  rates: [number, number];
  "per-weight": [number, number];
}

export interface DiffSide {
  name: string;
  total: number;
  capture: Capture;
  quality: Quality;
  sentence: string;
}

export interface ChangeColumns {
  frame: number[];
  "own-before": number[];
  "own-after": number[];
  "own-change": number[];
  "own-beyond-noise": boolean[];
  "total-before": number[];
  "total-after": number[];
  "total-change": number[];
  "total-beyond-noise": boolean[];
}

export interface RunRecord {
  rabbitscope: string;
  name: string;
  description: string;
  "started-unix-nanos": number;
  "duration-nanos": number;
  scenario: unknown;
  machine: {
    kernel: string;
    distribution: string;
    cpu: string;
    cpus: number;
    "memory-bytes": number;
  };
  broker: {
    product: string;
    version: string;
    platform: string;
    "cluster-name": string;
    address: string;
    throwaway: boolean;
  };
  profile: { "offset-nanos": number; capture: Capture } | null;
  expectations?: { text: string; measured: string | null; passed: boolean }[];
  losses: { what: string; count: number; of: number; meaning: string }[];
  verdict: { kind: string; reason?: string };
  service?: { spans: { kind: "down" | "silent" | "blocked"; "from-nanos": number; "to-nanos": number; reason: string }[] };
  faults?: Fault[];
  "fault-times"?: FaultTimes[];
  replicas?: { when: string; queues: QueueReplicas[] }[];
  breakdown?: {
    groups: { group: string; latencies: LatencyFigures[] }[];
    queues: { queue: string; latencies: LatencyFigures[] }[];
    "left-out": number;
  };
}

/** A fault of a node. Times are nanoseconds since the start of the load. */
export interface Fault {
  kind: string;
  node: string;
  "planned-nanos": number;
  "begun-nanos"?: number;
  "undo-begun-nanos"?: number;
  "undone-nanos"?: number;
  failure?: string;
  outage?: { "without-service-nanos": number; "stalled-nanos": number; "longest-wait-nanos": number };
}

/** All faults of a kind; times in nanoseconds. */
export interface FaultTimes {
  kind: string;
  planned: number;
  "as-planned": number;
  "without-service": Percentiles;
  stalled: Percentiles;
  "longest-wait": Percentiles;
  "return-to-service": Percentiles;
}

export interface Percentiles {
  count: number;
  p50: number;
  p90: number;
  p99: number;
  max: number;
}

export interface QueueReplicas {
  name: string;
  type: string;
  leader?: string;
  members: string[];
  online: string[];
}

/** Latencies by percentile; times in nanoseconds. */
export interface LatencyFigures {
  name: string;
  count: number;
  p50: number;
  p99: number;
  p999: number;
  max: number;
}
