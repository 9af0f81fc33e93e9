//! The record of a finished run.

use std::path::PathBuf;

use rabbitscope_diagnosis::CheckReport;
use rabbitscope_machine::Hardware;
use rabbitscope_measurements::LoadOutcome;
use rabbitscope_polling::PollOutcome;
use rabbitscope_runs::{
    record::{
        BrokerFacts, FORMAT_VERSION, Loss, MachineFacts, PacketFacts, ProfileFacts, RunRecord,
        SecondRow, Service,
    },
    scenario::Scenario,
};
use serde::Serialize;

/// A finished run with any verdict.
#[derive(Debug)]
pub struct Finished {
    /// Contents of `run.json`.
    pub record: RunRecord,
    /// Rows of the series, one per second.
    pub series: Vec<SecondRow>,
    /// The profiles, one for each recorded event.
    pub profiles: Vec<rabbitscope_profiles::Profile>,
    /// The limit of the run and its findings. Absent if the results could not be written.
    pub checked: Option<CheckReport>,
    /// Path of the report.
    pub report: PathBuf,
    /// Results that could not be written, as one message.
    pub unwritten: Option<anyhow::Error>,
}

/// A finished run for programs: its record, and the limit of the run as `check` has it.
#[derive(Debug, Serialize)]
pub struct PrintedRun<'a> {
    #[serde(flatten)]
    record: &'a RunRecord,
    check: Option<&'a CheckReport>,
}

impl Finished {
    /// Returns the form for programs.
    pub fn printed(&self) -> PrintedRun<'_> {
        PrintedRun { record: &self.record, check: self.checked.as_ref() }
    }
}

/// Builds the record, without the conclusions from it.
pub(super) fn record_of(
    scenario: &Scenario,
    broker: BrokerFacts,
    (outcome, polls): (LoadOutcome, PollOutcome),
    (profiles, packets): (Vec<ProfileFacts>, Option<PacketFacts>),
) -> anyhow::Result<RunRecord> {
    let mut losses = outcome.losses;
    losses.extend(polls.losses);
    let latencies = outcome.latencies.into_iter().chain(polls.latencies);
    losses.extend(profiles.iter().filter_map(lost_samples));
    losses.extend(packets.as_ref().and_then(lost_packets));
    let mut profiles = profiles.into_iter();
    Ok(RunRecord {
        started_unix_nanos: outcome.started_unix_nanos,
        duration_nanos: u64::try_from(outcome.duration.as_nanos()).unwrap_or(u64::MAX),
        broker,
        load: outcome.totals,
        measured: outcome.measured,
        breakdown: outcome.breakdown,
        latencies: latencies.map(|latency| latency.summary).collect(),
        polls: polls.totals,
        profile: profiles.next(),
        other_profiles: profiles.collect(),
        packets,
        losses,
        verdict: outcome.verdict,
        service: service_of(scenario, outcome.service),
        errors: outcome.errors,
        doubts: outcome.doubts,
        client: outcome.client,
        verification: outcome.verification,
        ..record_before(scenario)?
    })
}

/// Returns the record of a run that has not begun.
pub(crate) fn record_before(scenario: &Scenario) -> anyhow::Result<RunRecord> {
    Ok(RunRecord {
        format_version: FORMAT_VERSION,
        rabbitscope: env!("CARGO_PKG_VERSION").to_owned(),
        name: scenario.name.clone(),
        description: scenario.description.clone(),
        scenario: toml::from_str(&scenario.to_toml())?,
        machine: machine_facts(),
        ..RunRecord::default()
    })
}

/// Describes this machine. Unknown facts stay empty.
fn machine_facts() -> MachineFacts {
    let Hardware { kernel, distribution, cpu, cpus, memory_bytes } = Hardware::read();
    MachineFacts { kernel, distribution, cpu, cpus, memory_bytes }
}

/// Keeps stalls only if they can be joined with faults. Without faults, latencies say the same.
fn service_of(scenario: &Scenario, service: Service) -> Service {
    if scenario.faults.is_empty() {
        Service { stalls: Vec::new(), stalls_left_out: 0, ..service }
    } else {
        service
    }
}

/// Returns the samples for which the recorder had no room.
fn lost_samples(profile: &ProfileFacts) -> Option<Loss> {
    let quality = &profile.quality;
    (quality.lost > 0).then(|| Loss {
        what: format!("samples of the {} profile", profile.event),
        count: quality.lost,
        of: quality.lost + quality.recorded(),
        meaning: "shares in the profile exclude these moments".to_owned(),
    })
}

/// Returns the packets that the kernel dropped.
fn lost_packets(packets: &PacketFacts) -> Option<Loss> {
    (packets.dropped > 0).then(|| Loss {
        what: "packets".to_owned(),
        count: packets.dropped,
        of: packets.dropped + packets.packets,
        meaning: "figures of packets exclude these".to_owned(),
    })
}
