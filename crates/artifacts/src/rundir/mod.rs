//! The run directory: its files, and how they are written and read.
//!
//! `series.jsonl` grows line by line while the load runs. Every other file appears whole. No file ever holds a
//! password.

mod names;
mod read;
mod series;
mod unfinished;
mod write;

use names::{
    BROKER, BROKER_LOG, PACKET_FILE, PACKET_PAGE, PACKETS, RECORD, REPORT, SCENARIO, SERIES, TRACE,
    profile_name,
};
pub use read::{
    RecordedRun, messages_during_profile, profile_path, read_broker, read_record, read_run,
    write_report,
};
pub use write::{ReservedRoom, RunDirectory, SeriesFile};
