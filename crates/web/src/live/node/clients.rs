//! The table of clients: a row for each channel, because prefetch and acknowledgements are a channel's.

use std::collections::HashMap;

use rabbitscope_diagnosis::{Case, ChannelCase, ConnectionCase};

use crate::document::{Block, Cell, Column};
use crate::live::rows::{Rows, cores, count, name, rate, single};

const LABEL: &str = "Channels of the clients";

fn rows() -> Rows {
    Rows {
        id: "clients",
        noun: "channel",
        columns: vec![
            Column::text("client")
                .meaning("The client's own name for its connection, else its address"),
            Column::text("user"),
            Column::text("connection").meaning("State of its connection"),
            Column::number("unacknowledged"),
            Column::number("unconfirmed"),
            Column::number("prefetch").meaning("The smallest of its consumers; 0 is no limit"),
            Column::number("consumers"),
            Column::number("published"),
            Column::number("delivered"),
            Column::number("acknowledged"),
            Column::number("CPU")
                .meaning("CPU time of the channel's process on the node, in cores"),
        ],
    }
}

/// Returns the table without clients.
pub(super) fn empty() -> [Block; 2] {
    rows().empty(LABEL)
}

/// Returns the table, the channels with the most messages a second first. Empty if the node was not asked.
pub(super) fn filled(case: &Case) -> [Block; 2] {
    let Ok(clients) = &case.clients else { return empty() };
    let sampled = case.cpu.as_ref().map_or(&[][..], |cpu| &cpu.processes);
    let sources = Sources {
        connections: clients.connections.iter().map(|row| (&*row.pid, row)).collect(),
        cores: sampled.iter().map(|process| (&*process.pid, process.cores)).collect(),
    };
    let mut sorted: Vec<&ChannelCase> = clients.channels.iter().collect();
    sorted.sort_by(|one, other| {
        let by_activity = activity(other).total_cmp(&activity(one));
        by_activity.then(other.unacknowledged.cmp(&one.unacknowledged))
    });
    let cells = sorted.into_iter().map(|channel| sources.cells(channel)).collect();
    let known = case.broker.as_ref().ok().and_then(|broker| broker.channels).unwrap_or(0);
    rows().filled(LABEL, cells, known.max(clients.channels.len() as u64))
}

/// Returns its messages per second.
fn activity(channel: &ChannelCase) -> f64 {
    let rates = [
        channel.published_per_second,
        channel.delivered_per_second,
        channel.got_per_second,
        channel.get_empty_per_second,
    ];
    rates.into_iter().flatten().filter(|rate| rate.is_finite()).sum()
}

/// Figures about channels that are elsewhere in the case, by pid.
struct Sources<'a> {
    connections: HashMap<&'a str, &'a ConnectionCase>,
    cores: HashMap<&'a str, f64>,
}

impl Sources<'_> {
    fn cells(&self, channel: &ChannelCase) -> Vec<Cell> {
        let state = self.connections.get(&*channel.connection).map(|row| row.state.as_str());
        // Connections write their state with their statistics only.
        let state = state.filter(|state| !matches!(*state, "" | "unknown"));
        let prefetch = channel.prefetch.map_or_else(|| Cell::text("–"), count);
        vec![
            title(channel),
            name(&channel.user),
            name(state.unwrap_or("–")),
            count(channel.unacknowledged),
            count(channel.unconfirmed),
            prefetch,
            count(channel.consumers),
            rate(channel.published_per_second),
            rate(channel.delivered_per_second),
            rate(channel.acknowledged_per_second),
            cores(self.cores.get(&*channel.pid).copied()),
        ]
    }
}

fn title(channel: &ChannelCase) -> Cell {
    let own = if channel.name.is_empty() { &channel.pid } else { &channel.name };
    match channel.client.as_str() {
        "" => name(own),
        client => name(client).small(single(own)),
    }
}

#[cfg(test)]
mod tests {
    use rabbitscope_diagnosis::{Broker, Clients, Subject};

    use super::*;

    #[test]
    fn the_busiest_channel_is_first() {
        let channel = |client: &str, rate: f64, unacknowledged| ChannelCase {
            client: client.to_owned(),
            name: "10.0.0.1:5 -> 10.0.0.2:5672 (1)".to_owned(),
            connection: "<0.1.0>".to_owned(),
            delivered_per_second: Some(rate),
            unacknowledged,
            prefetch: Some(20),
            ..ChannelCase::default()
        };
        let connection = ConnectionCase {
            pid: "<0.1.0>".to_owned(),
            state: "flow".to_owned(),
            ..ConnectionCase::default()
        };
        let mut case = Case::unread(Subject::default());
        case.clients = Ok(Clients {
            connections: vec![connection],
            channels: vec![channel("", 0.0, 1), channel("<i>", 0.0, 9), channel("shop", 7.0, 0)],
        });
        case.broker = Ok(Broker { channels: Some(8), ..Broker::default() });
        let [table, more] = filled(&case).map(|block| serde_json::to_value(block).unwrap());
        let rows = table["rows"].as_array().unwrap();
        let names: Vec<_> = rows.iter().map(|row| row[0]["text"].as_str().unwrap()).collect();
        assert_eq!(names, ["shop", "<i>", "10.0.0.1:5 -> 10.0.0.2:5672 (1)"]);
        assert_eq!((&rows[0][2]["text"], &rows[0][5]["value"]), (&"flow".into(), &20.0.into()));
        assert_eq!(rows[0].as_array().unwrap().len(), table["columns"].as_array().unwrap().len());
        assert_eq!(more["sentences"][0]["text"], "… and 5 more channels");
    }
}
