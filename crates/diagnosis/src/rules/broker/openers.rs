//! Clients that open most connections or channels, as packets show them.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
};

use rabbitscope_text::grouped;
use rabbitscope_wire::report::{ConnectionReport, PacketReport};

use crate::{
    case::{Case, Source},
    finding::Evidence,
    rules::{draft::Draft, names},
};

/// Openings below which a client is not worth a name.
const FEW: u64 = 10;

/// Makes the draft about the hosts that opened most connections, or about the node if packets show none.
pub(crate) fn of_connections(case: &Case, draft: impl Fn(Vec<String>) -> Draft) -> Draft {
    let mut opened: BTreeMap<&str, u64> = BTreeMap::new();
    let seen = report(case).into_iter().flat_map(|report| &report.connections);
    for connection in seen.filter(|connection| connection.from_the_start) {
        *opened.entry(host(&connection.client)).or_default() += 1;
    }
    let rows = opened.into_iter().map(|(host, opened)| (owner(case, host), opened)).collect();
    named(case, rows, "connections", draft)
}

/// Makes the draft about the connections that opened most channels, or about the node if packets show none.
pub(crate) fn of_channels(case: &Case, draft: impl Fn(Vec<String>) -> Draft) -> Draft {
    let seen = report(case).into_iter().flat_map(|report| &report.connections);
    let rows = seen.map(|connection| (label(case, connection), opened(connection))).collect();
    named(case, rows, "channels", draft)
}

/// Returns the number of channels that a connection opened. Most clients use a number again when its channel is closed,
/// so the number of used channels is a lower bound.
fn opened(connection: &ConnectionReport) -> u64 {
    let openings = connection.frames.iter().filter(|row| row.kind == "channel.open");
    openings.map(|row| row.frames).fold(0, u64::saturating_add).max(connection.channels)
}

fn named(
    case: &Case,
    mut rows: Vec<(String, u64)>,
    noun: &str,
    draft: impl Fn(Vec<String>) -> Draft,
) -> Draft {
    rows.retain(|(_, opened)| *opened >= FEW);
    rows.sort_by_key(|(_, opened)| Reverse(*opened));
    let Some((worst, opened)) = rows.first() else {
        return draft(vec![case.subject.node.clone()]);
    };
    let evidence = Evidence {
        source: Source::Packets,
        figure: format!("{worst} opened {} {noun}", grouped(*opened)),
        at_nanos: 0,
        lasted_nanos: report(case).map_or(0, |report| report.totals.duration_nanos),
    };
    draft(rows.iter().map(|(name, _)| name.clone()).collect()).evidence(evidence)
}

fn report(case: &Case) -> Option<&PacketReport> {
    case.packets.as_ref().ok()
}

/// Returns the host of `host:port`.
fn host(address: &str) -> &str {
    address.rsplit_once(':').map_or(address, |(host, _)| host)
}

/// Returns a host with the client's own name and its user, if all known connections of it have the same.
fn owner(case: &Case, address: &str) -> String {
    let rows = case.clients.as_ref().map_or(&[][..], |clients| &clients.connections[..]);
    let own = rows.iter().filter(|row| {
        let from = row.name.split(" -> ").next().unwrap_or_default();
        host(from) == address && !row.client.is_empty()
    });
    let names: BTreeSet<(&str, &str)> =
        own.map(|row| (row.client.as_str(), row.user.as_str())).collect();
    match names.first() {
        Some((client, user)) if names.len() == 1 => format!("{client} ({address}, user {user})"),
        _ => address.to_owned(),
    }
}

fn label(case: &Case, connection: &ConnectionReport) -> String {
    let label = connection.label();
    let known = case.clients.as_ref().ok();
    let known = known.and_then(|clients| clients.connections.iter().find(|row| row.name == label));
    known.map_or(label, names::connection)
}
