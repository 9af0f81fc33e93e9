//! `run.json`: the record of a run, except for its series and its profile.

use serde::{Deserialize, Serialize};

use super::{
    ClientCheck, Doubt, ErrorCount, ExpectationResult, FaultRecord, FaultTimes, FleetFacts,
    Latency, LatencyBreakdown, LatencyFigures, LatencySummary, LoadTotals, Measured, PollTotals,
    ReplicaSnapshot, Service, Steadiness, Verification,
};
use rabbitscope_profiles::{Capture, StackQuality};

/// Version of the run directory. Raised when a reader of the old form would be misled. All versions from 1 on are
/// readable.
///
/// 2: the keys of `capture` and `quality` have `-` between words, like all others.
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
    /// Description of the scenario.
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
    /// The part after the warm-up, to which rates and latencies apply.
    #[serde(default)]
    pub measured: Measured,
    /// The measured latencies.
    pub latencies: Vec<LatencySummary>,
    /// The totals of each group of HTTP pollers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub polls: Vec<PollTotals>,
    /// The profile, if one was taken.
    pub profile: Option<ProfileFacts>,
    /// The profiles of the other events of the same recording.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub other_profiles: Vec<ProfileFacts>,
    /// The packets, if they were captured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub packets: Option<PacketFacts>,
    /// The losses of the recording and their meaning. Empty if nothing was lost.
    pub losses: Vec<Loss>,
    /// The end of the run.
    pub verdict: Verdict,
    /// The times without service.
    #[serde(default)]
    pub service: Service,
    /// The faults of the broker's nodes, in the order in which they were due.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<FaultRecord>,
    /// Times without service because of the faults, for each kind.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fault_times: Vec<FaultTimes>,
    /// Locations of the queues of a cluster that was started for the run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub replicas: Vec<ReplicaSnapshot>,
    /// The last error of each kind, with its count. Empty if there were none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<ErrorCount>,
    /// The reasons to doubt the figures. Empty if there are none.
    #[serde(default)]
    pub doubts: Vec<Doubt>,
    /// The reason why no second has figures from inside the node; absent if some have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_node_figures: Option<String>,
    /// The load generator's check of itself.
    #[serde(default)]
    pub client: ClientCheck,
    /// The steadiness of the measured part; absent if it was too short to tell.
    #[serde(default)]
    pub steadiness: Option<Steadiness>,
    /// Latencies by group and by queue.
    #[serde(default)]
    pub breakdown: LatencyBreakdown,
    /// The result of each line of `[expect]`.
    #[serde(default)]
    pub expectations: Vec<ExpectationResult>,
    /// The processes of the load; absent if it was this process alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fleet: Option<FleetFacts>,
    /// The fate of every message, if `run.verify` asked for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verification: Option<Verification>,
    /// The file with the fate of every N-th message, if `run.trace-every` asked for it.
    #[serde(default)]
    pub trace: Option<String>,
}

/// The end of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Verdict {
    /// The run ended as the scenario asked.
    #[default]
    Completed,
    /// The run was cut short; its recordings are kept.
    Aborted {
        /// The reason, one sentence for a person.
        reason: String,
    },
    /// The run lasted as long as the scenario asked, but the broker did not do its part.
    Failed {
        /// The reason, one sentence for a person.
        reason: String,
    },
    /// The run ended early because a limit had failed for good, as the scenario asked for this case.
    Stopped {
        /// The limit, and by how much it failed.
        reason: String,
    },
}

impl Verdict {
    /// Returns the reason why the run is not as the scenario asked; absent if it is.
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

/// The broker, from its own `connection.start` and from the machine.
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
    /// Pid of the node if it runs on this machine. For a cluster, the first node, which is the one profiled and
    /// captured.
    pub pid: Option<u32>,
    /// All nodes of a cluster, or of several brokers, that were started for the run. Also the nodes at its addresses if
    /// all are on this machine; empty if there is only one node. CPU time and memory of the broker are sums over them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nodes: Vec<ClusterNode>,
    /// The broker was started for this run and stopped after it.
    pub throwaway: bool,
    /// The modules of its code that differ from the installation.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub patched: Vec<PatchedModule>,
}

/// A node of a cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct ClusterNode {
    /// Erlang name of the node, `rabbitscope-1a2b-1@localhost`; for a broker that already ran, its address.
    pub name: String,
    /// Pid of the node's VM when the load began.
    pub pid: u32,
    /// CPU time during the load, user and system, in nanoseconds; absent if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_nanos: Option<u64>,
    /// The node's largest resident memory meanwhile, in bytes; absent if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rss_bytes: Option<u64>,
}

/// A module of the broker that was replaced for a run, in part or as a whole.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct PatchedModule {
    /// Name of the module.
    pub module: String,
    /// The functions that were replaced or added, such as `route/2`; empty for a whole module.
    pub functions: Vec<String>,
    /// The whole module was replaced.
    pub is_whole: bool,
    /// The file as named by the user.
    pub file: String,
    /// SHA-256 of the file, in hexadecimal digits.
    pub sha256: String,
}

/// The facts that the run record keeps of the profile of an event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct ProfileFacts {
    /// `cpu`
    pub event: String,
    /// The profile's file in the run directory.
    pub file: String,
    /// Time from start of load to start of recording, in nanoseconds.
    pub offset_nanos: u64,
    /// The settings of the recording.
    pub capture: Capture,
    /// The quality of its stacks.
    pub quality: StackQuality,
}

/// The facts that the run record keeps of the packets.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct PacketFacts {
    /// The report's file in the run directory.
    pub file: String,
    /// The page of the report.
    pub page: String,
    /// The file with the packets, if they are kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub saved: Option<String>,
    /// Sources that could not be used. Without the source of the packets there are no figures of packets.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<MissingSource>,
    /// Packets that were read.
    pub packets: u64,
    /// Packets that the kernel dropped.
    pub dropped: u64,
    /// Time from the first packet to the last, in nanoseconds; absent in a record of an earlier version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub captured_nanos: Option<u64>,
    /// Median on the wire from publish to confirm, in nanoseconds: the broker's part of the confirm latency.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub publish_to_confirm_p50: Option<u64>,
    /// The 99th percentile of the same time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub publish_to_confirm_p99: Option<u64>,
    /// The findings, worst first, in a sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<String>,
    /// The reason why the capture ended before its time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut_short: Option<String>,
}

impl RunRecord {
    /// Returns the figures of a latency; absent if it was not measured.
    pub fn latency(&self, latency: Latency) -> Option<&LatencyFigures> {
        let mut all = self.latencies.iter().map(|summary| &summary.figures);
        all.find(|figures| figures.name == latency.name())
    }

    /// Returns the median of the confirm latency in nanoseconds, between the broker's packets and as measured by the
    /// load generator. `None` unless both are known, cover the same seconds, and the part is not larger than the whole.
    pub fn confirm_medians(&self) -> Option<[u64; 2]> {
        let packets = self.packets.as_ref()?;
        let wire = packets.publish_to_confirm_p50?;
        let is_whole = packets.captured_nanos? + SECOND_NANOS >= self.measured.duration_nanos;
        let is_same_time = is_whole && self.measured.warm_up_nanos == 0;
        let whole = self.latency(Latency::Confirm)?.percentiles.p50;
        (is_same_time && whole > 0 && wire <= whole).then_some([wire, whole])
    }
}

/// A capture may begin and end within the first and the last second of the measured time.
const SECOND_NANOS: u64 = 1_000_000_000;

/// A source of figures about packets that could not be used.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct MissingSource {
    /// `sockets`, `packets` or `writes`.
    pub source: String,
    /// The reason, and the remedy.
    pub reason: String,
}

impl PacketFacts {
    /// Returns the reason why no packets could be captured, if that is so.
    pub fn not_captured(&self) -> Option<&str> {
        self.missing
            .iter()
            .find(|source| source.source == "packets")
            .map(|source| source.reason.as_str())
    }
}

/// Something that was not recorded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Loss {
    /// The lost things, as a plural noun: `samples of the cpu profile`, `unconfirmed messages`.
    pub what: String,
    /// Number of lost things.
    pub count: u64,
    /// Number of all such things.
    pub of: u64,
    /// The meaning for the reader.
    pub meaning: String,
}
