//! The results of a run: [`RunRecord`] is `run.json`, [`SecondRow`] a line of `series.jsonl`, [`TracedMessage`] one of
//! `trace.jsonl`, [`BrokerStates`] is `broker.json`.

mod breakdown;
mod broker_state;
mod faults;
mod figures;
mod fleet;
mod polls;
mod replicas;
mod run;
mod series;
mod service;
mod totals;
mod trace;
mod validity;
mod verification;

pub use rabbitscope_text::{Percentiles, Unit};

pub use breakdown::{GroupLatencies, LatencyBreakdown, QueueLatencies};
pub use broker_state::{BindingState, BrokerState, BrokerStates, NodeState, PlainTerm, QueueState};
pub use faults::{FaultOutage, FaultRecord, FaultTimes, NearestRanks};
pub use figures::{
    Counter, Counters, ExpectedCount, ExpectedGauge, ExpectedLatency, ExpectedRate, ExpectedTime,
    Gauge, KnownCount, Latency, LatencyFigures, LatencySummary, LiveForm, Metric, Needs,
    NodeFigure, NodeFigures, Quantile, SecondLatencies, SecondLatency, SpectrumPoint, Statistic,
    gauges,
};
pub use fleet::{FleetFacts, FleetWorker};
pub use polls::{PollPoint, PollTotals};
pub use replicas::{QueueReplicas, ReplicaSnapshot};
pub use run::{
    BrokerFacts, ClusterNode, FORMAT_VERSION, Loss, MachineFacts, MissingSource, PacketFacts,
    PatchedModule, ProfileFacts, RunRecord, Verdict,
};
pub use series::SecondRow;
pub use service::{ErrorCount, ErrorKind, Service, ServiceSpan, SpanKind, Stall};
pub use totals::{LoadTotals, Measured};
pub use trace::TracedMessage;
pub use validity::{ClientCheck, Doubt, DoubtKind, ExpectationResult, Steadiness};
pub use verification::Verification;
