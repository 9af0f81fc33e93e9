//! `run.json`: everything about a run that is not a series or a profile.

use serde::{Deserialize, Serialize};

use super::{
    ClientCheck, Doubt, ErrorCount, ExpectationResult, FaultRecord, FaultTimes, FleetFacts,
    LatencyBreakdown, LatencySummary, LoadTotals, Measured, PollTotals, ReplicaSnapshot, Service,
    Steadiness, Verification,
};
use rabbitscope_profiles::{Capture, StackQuality};

/// Version of the run directory. Raised when a reader of the old form would be misled. All versions from 1
/// on are read.
///
/// 2: the keys of `capture` and `quality` have `-` between words, as all others.
pub const FORMAT_VERSION: u32 = 2;

/// The record of one run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct RunRecord {
    /// [`FORMAT_VERSION`] of the writer.
    pub format_version: u32,
    /// Version of rabbitscope.
    pub rabbitscope: String,
    /// Name of the scenario.
    pub name: String,
    /// What it is about.
    pub description: String,
    /// Start of the load, nanoseconds since 1970-01-01 UTC.
    pub started_unix_nanos: u64,
    /// Length of the load in nanoseconds.
    pub duration_nanos: u64,
    /// The scenario as resolved, without secrets.
    pub scenario: serde_json::Value,
    /// The machine that rabbitscope ran on.
    pub machine: MachineFacts,
    /// The broker under load.
    pub broker: BrokerFacts,
    /// Totals of the load.
    pub load: LoadTotals,
    /// The part after the warm-up: rates and latencies are about this.
    #[serde(default)]
    pub measured: Measured,
    /// One for each latency that was measured.
    pub latencies: Vec<LatencySummary>,
    /// One for each group of HTTP pollers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub polls: Vec<PollTotals>,
    /// The profile, when one was taken.
    pub profile: Option<ProfileFacts>,
    /// The packets, when they were looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub packets: Option<PacketFacts>,
    /// What was not recorded, and why it matters. Empty when nothing was lost.
    pub losses: Vec<Loss>,
    /// How it ended.
    pub verdict: Verdict,
    /// When the broker did not serve.
    #[serde(default)]
    pub service: Service,
    /// What was done to nodes of the broker, in the order in which it was due.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<FaultRecord>,
    /// How long the broker did not serve because of that, for each kind.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fault_times: Vec<FaultTimes>,
    /// Where the queues of a cluster that was started for the run were.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub replicas: Vec<ReplicaSnapshot>,
    /// The last error of each kind, with its count. Empty: there were none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<ErrorCount>,
    /// Why its figures may not be believed. Empty: nothing speaks against them.
    #[serde(default)]
    pub doubts: Vec<Doubt>,
    /// What the load generator says of itself.
    #[serde(default)]
    pub client: ClientCheck,
    /// Whether the measured part was steady; absent when it was too short to tell.
    #[serde(default)]
    pub steadiness: Option<Steadiness>,
    /// Latencies by group and by queue.
    #[serde(default)]
    pub breakdown: LatencyBreakdown,
    /// Each line of `[expect]` and what became of it.
    #[serde(default)]
    pub expectations: Vec<ExpectationResult>,
    /// The processes that put the load on; absent when it was this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fleet: Option<FleetFacts>,
    /// What became of every message, when `run.verify` asked for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verification: Option<Verification>,
    /// The file with the fate of every N-th message, when `run.trace-every` asked for it.
    #[serde(default)]
    pub trace: Option<String>,
}

/// How a run ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Verdict {
    /// As the scenario asked.
    #[default]
    Completed,
    /// Cut short; what was recorded is kept.
    Aborted {
        /// One sentence for a person.
        reason: String,
    },
    /// It lasted as long as the scenario asked, but the broker did not do its part.
    Failed {
        /// One sentence for a person.
        reason: String,
    },
    /// Ended early, as the scenario asked for the case that a limit fails for good.
    Stopped {
        /// Which limit, and by what.
        reason: String,
    },
}

impl Verdict {
    /// Why the run is not as the scenario asked; absent when it is.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Completed => None,
            Self::Aborted { reason } | Self::Failed { reason } | Self::Stopped { reason } => {
                Some(reason)
            }
        }
    }
}

/// The machine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct MachineFacts {
    /// `Linux 6.1.0 x86_64`
    pub kernel: String,
    /// Name of the distribution.
    pub distribution: String,
    /// CPU model.
    pub cpu: String,
    /// CPUs online.
    pub cpus: u32,
    /// Memory in bytes.
    pub memory_bytes: u64,
}

/// The broker, as it says of itself in `connection.start`, and as the machine sees it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct BrokerFacts {
    /// `RabbitMQ`
    pub product: String,
    /// `3.10.8`
    pub version: String,
    /// `Erlang/OTP 25`
    pub platform: String,
    /// `rabbit@host`
    pub cluster_name: String,
    /// Host and port, no credentials.
    pub address: String,
    /// Pid of the node when it runs on this machine; of a cluster the first, which a profile and packets are of.
    pub pid: Option<u32>,
    /// All nodes of a cluster, or of several brokers, that were started for the run, or to which its addresses lead
    /// when all are on this machine; none where there is but one. Its CPU time and memory are those of all together.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nodes: Vec<ClusterNode>,
    /// Started for this run and stopped after it.
    pub throwaway: bool,
    /// What of its code is not that of the installation.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub patched: Vec<PatchedModule>,
}

/// A node of a cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct ClusterNode {
    /// Its Erlang name, `rabbitscope-1a2b-1@localhost`; of a broker that was there, its address.
    pub name: String,
    /// Pid of its VM when the load began.
    pub pid: u32,
    /// CPU time while the load was put on, user and system, in nanoseconds; absent where it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_nanos: Option<u64>,
    /// Its largest resident memory meanwhile, in bytes; absent where it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rss_bytes: Option<u64>,
}

/// A module of the broker that was replaced for a run, in part or as a whole.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct PatchedModule {
    /// Its name.
    pub module: String,
    /// The functions that were replaced or added, such as `route/2`; empty for a whole module.
    pub functions: Vec<String>,
    /// The whole module.
    pub is_whole: bool,
    /// The file, as it was named.
    pub file: String,
    /// SHA-256 of the file, in hexadecimal digits.
    pub sha256: String,
}

/// What the run record keeps of the profile.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct ProfileFacts {
    /// `cpu`
    pub event: String,
    /// The profile's file in the run directory.
    pub file: String,
    /// Seconds from start of load to start of recording, in nanoseconds.
    pub offset_nanos: u64,
    /// How it was recorded.
    pub capture: Capture,
    /// How good it is.
    pub quality: StackQuality,
}

/// What the run record keeps of the packets.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct PacketFacts {
    /// The report's file in the run directory.
    pub file: String,
    /// The page beside it.
    pub page: String,
    /// The packets themselves, where they are kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub saved: Option<String>,
    /// Sources that could not be used. Without that of the packets themselves there are no figures of packets.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<MissingSource>,
    /// Packets that were read.
    pub packets: u64,
    /// Packets that the kernel dropped.
    pub dropped: u64,
    /// From the first packet to the last, in nanoseconds; absent in a record of an earlier version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub captured_nanos: Option<u64>,
    /// Median on the wire from publish to confirm, in nanoseconds: the broker's part of the confirm latency.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub publish_to_confirm_p50: Option<u64>,
    /// The 99th percentile of that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub publish_to_confirm_p99: Option<u64>,
    /// What was found, worst first, in a sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<String>,
    /// Why it ended before its time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut_short: Option<String>,
}

impl RunRecord {
    /// The median of the confirm latency in nanoseconds: between the broker's packets, and as the load generator measured
    /// it. `None` unless both are known, of the same seconds, and the part is not larger than the whole.
    pub fn confirm_medians(&self) -> Option<[u64; 2]> {
        let packets = self.packets.as_ref()?;
        let wire = packets.publish_to_confirm_p50?;
        let is_whole = packets.captured_nanos? + SECOND_NANOS >= self.measured.duration_nanos;
        let is_same_time = is_whole && self.measured.warm_up_nanos == 0;
        let mut measured = self.latencies.iter().map(|it| &it.figures);
        let whole = measured.find(|it| it.name == "confirm" && it.p50 > 0)?.p50;
        (is_same_time && wire <= whole).then_some([wire, whole])
    }
}

/// A capture may begin and end within the first and the last second of what is measured.
const SECOND_NANOS: u64 = 1_000_000_000;

/// A source of figures about packets that could not be used.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct MissingSource {
    /// `sockets`, `packets` or `writes`.
    pub source: String,
    /// Why, and what would help.
    pub reason: String,
}

impl PacketFacts {
    /// Why no packets were captured, where none could be.
    pub fn not_captured(&self) -> Option<&str> {
        self.missing.iter().find(|it| it.source == "packets").map(|it| it.reason.as_str())
    }
}

/// Something that was not recorded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Loss {
    /// What, as a plural noun: `profile samples`, `unconfirmed messages`.
    pub what: String,
    /// How many.
    pub count: u64,
    /// Of how many.
    pub of: u64,
    /// What that means for the reader.
    pub meaning: String,
}
