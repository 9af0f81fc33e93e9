//! What a run leaves behind: [`record`] is `run.json`, [`series`] a line of `series.jsonl`, [`trace`]
//! one of `trace.jsonl`.

mod breakdown;
mod groups;
mod polls;
mod record;
mod series;
mod service;
mod totals;
mod trace;
mod validity;
mod verification;

pub use breakdown::{GroupLatencies, LatencyBreakdown, LatencyFigures, QueueLatencies};
pub use groups::{ChurnCounts, RequestCounts};
pub use polls::{PollPoint, PollTotals};
pub use record::{
    BrokerFacts, FORMAT_VERSION, LatencySummary, Loss, MachineFacts, ProfileFacts, RunRecord,
    SpectrumPoint, Verdict,
};
pub use series::{LatencyPoint, SecondRow};
pub use service::{ErrorCount, ErrorKind, Service, ServiceSpan, SpanKind};
pub use totals::{LoadTotals, Measured};
pub use trace::TracedMessage;
pub use validity::{ClientCheck, Doubt, DoubtKind, ExpectationResult, Steadiness};
pub use verification::Verification;
