//! What a run leaves behind: [`record`] is `run.json`, [`series`] a line of `series.jsonl`.

mod record;
mod series;

pub use record::{
    BrokerFacts, FORMAT_VERSION, LatencySummary, LoadTotals, Loss, MachineFacts, ProfileFacts,
    RunRecord, Verdict,
};
pub use series::{LatencyPoint, SecondRow};
