//! The results that a run leaves in its directory. Each is written separately, so that one failure affects no other
//! result. The record has room reserved for it.

use rabbitscope_analysis::with_outages;
use rabbitscope_artifacts::{
    rundir::{ReservedRoom, RunDirectory},
    salvage::Unwritten,
};
use rabbitscope_capture::{CapturedPackets, source_name};
use rabbitscope_profiles::Profile;
use rabbitscope_runs::{
    record::{BrokerFacts, MissingSource, PacketFacts, ProfileFacts, RunRecord, Verdict},
    scenario::Scenario,
};
use rabbitscope_wire::report::{LatencyKind, Source};

use super::{
    judgement::judged,
    record::{Finished, record_of},
    recording::RecordedProfiles,
    seconds::RecordedSeconds,
    under_load::UnderLoad,
};
use crate::report::write_report;

/// Writes all results. Reports a failure of the profile or of the packets only after everything recorded is written.
pub(super) fn write(
    scenario: &Scenario,
    directory: &RunDirectory,
    broker: BrokerFacts,
    mut load: UnderLoad,
    room: ReservedRoom,
) -> anyhow::Result<Finished> {
    let RecordedSeconds {
        loss,
        no_node_figures,
        nodes: _,
        series,
        polls,
        mut unwritten,
        cut_short,
        failed,
    } = load.told;
    for latency in load.outcome.latencies.iter().chain(&polls.latencies) {
        unwritten.note(&latency.summary.file, directory.write_latency(latency));
    }
    let (mut recorded, failure) = match load.recorded.take().transpose() {
        Ok(recorded) => (recorded.unwrap_or_default(), None),
        Err(failure) => (RecordedProfiles::default(), Some(anyhow::Error::from(failure))),
    };
    let (captured, not_captured) = match load.captured.take().transpose() {
        Ok(captured) => (captured, None),
        Err(failure) => (None, Some(failure)),
    };
    let failure = failure.or(not_captured);
    if let Some(note) = of_first_node(&broker) {
        recorded.profiles.iter_mut().for_each(|one| one.capture.notes.push(note.clone()));
    }
    let profiles = write_profiles(directory, &recorded, &mut unwritten);
    let packets = captured.and_then(|captured| write_packets(directory, captured, &mut unwritten));
    let trace = directory.write_trace(&load.outcome.trace);
    let trace = unwritten.note("trace.jsonl", trace).flatten();
    unwritten.note("series.jsonl", series.sync());
    let record = record_of(scenario, broker, (load.outcome, polls), (profiles, packets))?;
    let (faults, replicas, fleet) = (load.faults, load.replicas, load.fleet);
    let record = with_outages(RunRecord { faults, replicas, fleet, no_node_figures, ..record });
    let verdict = match (cut_short, failed) {
        (Some(reason), _) => Verdict::Aborted { reason },
        // A load that ended for another reason in the same second was not stopped by the limit.
        (None, Some(reason)) if record.verdict != Verdict::Completed => Verdict::Stopped { reason },
        _ => record.verdict,
    };
    let mut record = judged(RunRecord { trace, verdict, ..record }, series.rows(), scenario);
    record.losses.extend(loss);
    record.losses.extend(unwritten.loss());
    drop(room);
    let written = unwritten.note("run.json", directory.write_record(&record)).is_some();
    let report = directory.report();
    let checked = written.then(|| write_report(directory.path(), &report));
    let checked = checked.and_then(|checked| unwritten.note("report.html", checked));
    if let Some(failure) = failure {
        return Err(failure);
    }
    Ok(Finished {
        record,
        series: series.rows().to_vec(),
        profiles: recorded.profiles,
        checked,
        report,
        unwritten: unwritten.error().map(|error| error.context(in_directory(directory))),
    })
}

/// Returns a note for readers of a profile of a cluster.
fn of_first_node(broker: &BrokerFacts) -> Option<String> {
    let [first, _, ..] = &broker.nodes[..] else { return None };
    Some(format!("of {} alone, one of {} nodes under load", first.name, broker.nodes.len()))
}

fn in_directory(directory: &RunDirectory) -> String {
    format!("not all results are in {}", directory.path().display())
}

/// Writes the profiles and returns their facts for the record, without those that could not be written anywhere.
fn write_profiles(
    directory: &RunDirectory,
    recorded: &RecordedProfiles,
    unwritten: &mut Unwritten,
) -> Vec<ProfileFacts> {
    let offset_nanos = u64::try_from(recorded.offset.as_nanos()).unwrap_or(u64::MAX);
    let mut write = |profile: &Profile| {
        let (name, written) = directory.write_profile(profile);
        let file = unwritten.note_recording(&name, profile, written)?;
        Some(ProfileFacts {
            event: profile.event.name().to_owned(),
            file: file.display().to_string(),
            offset_nanos,
            capture: profile.capture.clone(),
            quality: profile.quality,
        })
    };
    recorded.profiles.iter().filter_map(&mut write).collect()
}

/// Writes the packets and returns their facts for the record; `None` if their report could not be written.
fn write_packets(
    directory: &RunDirectory,
    captured: CapturedPackets,
    unwritten: &mut Unwritten,
) -> Option<PacketFacts> {
    let CapturedPackets { report, saved, cut_short } = captured;
    let place = directory.packet_file();
    // A file without packets would suggest a quiet broker.
    let saved = saved.filter(|_| report.capture.is_some()).and_then(|packets| {
        unwritten.note("packets.pcapng", packets.finish(&place, &report))?;
        Some("packets.pcapng".to_owned())
    });
    let [file, page] = unwritten.note("packets.json", directory.write_packets(&report))?;
    let capture = report.capture.unwrap_or_default();
    let mut confirms = report.latencies.iter();
    let confirms = confirms
        .find(|row| row.kind == LatencyKind::PublishToConfirm)
        .filter(|row| row.percentiles.count > 0);
    Some(PacketFacts {
        file,
        page,
        saved,
        missing: missing_sources(&report.sources),
        packets: capture.packets,
        dropped: capture.dropped.unwrap_or(0),
        captured_nanos: Some(report.totals.duration_nanos),
        publish_to_confirm_p50: confirms.map(|row| row.percentiles.p50),
        publish_to_confirm_p99: confirms.map(|row| row.percentiles.p99),
        findings: report.findings.into_iter().map(|finding| finding.sentence).collect(),
        cut_short,
    })
}

fn missing_sources(sources: &[Source]) -> Vec<MissingSource> {
    let missing = sources.iter().filter(|source| !source.present).map(|source| MissingSource {
        source: source_name(source.level).to_owned(),
        reason: source.note.clone(),
    });
    missing.collect()
}
