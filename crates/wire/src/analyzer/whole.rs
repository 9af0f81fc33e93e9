//! Assembly of the report from all observations.

use super::{busiest::EndedConnection, observation::Observation, trace::Trigger};
use crate::{
    findings,
    packet::Timestamp,
    report::{
        CaptureReport, FORMAT_VERSION, Ladder, LeftOut, PacketReport, Side, SizeBin, TimeSequence,
        Totals,
    },
};

/// Maximum of pictures of each kind.
const MAX_TIME_SEQUENCES: usize = 4;
const MAX_LADDERS: usize = 3;

/// Builds the report, with findings and pictures.
pub(super) fn report<L>(
    observation: Observation<L>,
    capture: CaptureReport,
    sizes: Vec<SizeBin>,
    connections: u64,
) -> (PacketReport, L) {
    let Observation {
        options, ended, totals, left_out, frames, latencies, events, listener, ..
    } = observation;
    let connections_without_row = ended.left_out;
    let (first, ended) = (totals.first, ended.into_sorted());
    let mut report = PacketReport {
        format_version: FORMAT_VERSION,
        subject: options.subject,
        capture: Some(CaptureReport {
            left_out: LeftOut {
                gaps: left_out.gaps,
                gap_bytes: left_out.gap_bytes,
                ..capture.left_out
            },
            ..capture
        }),
        sizes,
        totals: Totals { connections, frames: frames.all(), ..totals },
        frames: frames.report(),
        latencies: latencies.report(),
        connections: ended.iter().map(|connection| connection.report.clone()).collect(),
        connections_without_row,
        events: events.into_events(),
        ..PacketReport::default()
    };
    findings::judge(&mut report);
    report.ladders = ladders(&report, &ended, first);
    report.time_sequences = time_sequences(ended, first);
    (report, listener)
}

/// Draws ladders: of the connections that findings name first, then of those with the most bytes.
fn ladders(report: &PacketReport, ended: &[EndedConnection], first: Timestamp) -> Vec<Ladder> {
    let named = report.findings.iter().flat_map(|finding| &finding.connections);
    let named =
        named.filter_map(|name| ended.iter().find(|connection| connection.report.label() == *name));
    let mut ladders: Vec<Ladder> = Vec::new();
    for connection in named.chain(ended) {
        let label = connection.report.label();
        if ladders.len() < MAX_LADDERS && ladders.iter().all(|ladder| ladder.connection != label) {
            let recorder = connection.ladder.as_ref();
            ladders.extend(recorder.and_then(|recorder| recorder.report(&label, first)));
        }
    }
    ladders
}

/// Returns pictures, those of events first; among equals, connections with more bytes first.
fn time_sequences(ended: Vec<EndedConnection>, first: Timestamp) -> Vec<TimeSequence> {
    let mut pictures: Vec<(Trigger, TimeSequence)> = Vec::new();
    for connection in ended {
        let label = connection.report.label();
        let bytes = [&connection.report.from_client, &connection.report.from_broker]
            .map(|direction| direction.payload_bytes);
        let sides = [Side::Client, Side::Broker].into_iter().zip(connection.traces).zip(bytes);
        // Without an event, the direction with more bytes represents the connection.
        let larger = bytes.into_iter().max();
        for ((side, trace), of_side) in sides {
            let picture = trace.and_then(|trace| trace.report(&label, side, first));
            let shows = |trigger| trigger != Trigger::Beginning || Some(of_side) == larger;
            pictures.extend(picture.filter(|(trigger, _)| shows(*trigger)));
        }
    }
    pictures.sort_by_key(|(trigger, _)| *trigger);
    pictures.into_iter().take(MAX_TIME_SEQUENCES).map(|(_, picture)| picture).collect()
}
