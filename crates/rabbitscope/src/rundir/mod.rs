//! The run directory: what is in it, how it is written and read.
//!
//! `series.jsonl` grows line by line while the load runs; every other file appears whole. No file
//! ever holds a password.

mod read;
mod series;
mod unfinished;
mod write;

use rabbitscope_profiles::Event;

pub(crate) use read::messages_during_profile;
pub use read::{profile_path, write_report};
pub use write::{ReservedRoom, RunDirectory, SeriesFile};

const RECORD: &str = "run.json";
const SCENARIO: &str = "scenario.toml";
const SERIES: &str = "series.jsonl";
const TRACE: &str = "trace.jsonl";
const BROKER: &str = "broker.json";
const BROKER_LOG: &str = "broker.log";
const REPORT: &str = "report.html";

/// The file of a profile of `event`.
fn profile_name(event: Event) -> String {
    format!("profile-{}.pb.gz", event.name())
}
