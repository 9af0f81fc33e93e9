//! The run directory: what is in it, how it is written and read.
//!
//! `series.jsonl` grows line by line while the load runs; every other file appears whole. No file
//! ever holds a password.

mod read;
mod write;

pub use read::{profile_path, write_report};
pub use write::{RunDirectory, SeriesFile};

const RECORD: &str = "run.json";
const SCENARIO: &str = "scenario.toml";
const SERIES: &str = "series.jsonl";
const TRACE: &str = "trace.jsonl";
const PROFILE: &str = "profile-cpu.pb.gz";
const BROKER: &str = "broker.json";
const BROKER_LOG: &str = "broker.log";
const REPORT: &str = "report.html";
