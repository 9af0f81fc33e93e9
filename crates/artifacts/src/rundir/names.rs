//! Names of the files of a run directory.

use std::path::Path;

use rabbitscope_profiles::Event;

pub(super) const RECORD: &str = "run.json";

pub(super) const SCENARIO: &str = "scenario.toml";

pub(super) const SERIES: &str = "series.jsonl";

pub(super) const TRACE: &str = "trace.jsonl";

pub(super) const BROKER: &str = "broker.json";

pub(super) const BROKER_LOG: &str = "broker.log";

pub(super) const PACKETS: &str = "packets.json";

pub(super) const PACKET_PAGE: &str = "packets.html";

pub(super) const PACKET_FILE: &str = "packets.pcapng";

pub(super) const REPORT: &str = "report.html";

/// Returns the file name of a profile of `event`.
pub(super) fn profile_name(event: Event) -> String {
    format!("profile-{}.pb.gz", event.name())
}

/// Returns the context of an error.
pub(super) fn cannot_read(path: &Path) -> String {
    format!("cannot read {}", path.display())
}
