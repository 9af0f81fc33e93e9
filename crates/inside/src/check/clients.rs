//! Connections and channels, from the agent's answer.

use std::cmp::Reverse;

use rabbitscope_diagnosis::{ChannelCase, Clients, ConnectionCase};
use rabbitscope_erlang::Term;

use super::fields::Fields;

/// Reads the rows: connections with the most traffic first, channels with the most unacknowledged messages first.
pub(super) fn clients(answer: Fields<'_>, seconds: f64) -> Option<Clients> {
    let connections = Fields(answer.term("connections")?).rows("rows");
    let mut connections: Vec<ConnectionCase> =
        connections.filter_map(|row| connection(row, seconds)).collect();
    let traffic = |row: &ConnectionCase| {
        row.received_bytes_per_second.unwrap_or_default()
            + row.sent_bytes_per_second.unwrap_or_default()
    };
    connections.sort_by(|one, other| traffic(other).total_cmp(&traffic(one)));
    let channels = answer.term("channels")?.as_list()?.iter();
    let mut channels: Vec<ChannelCase> =
        channels.filter_map(|row| channel(Fields(row), seconds)).collect();
    channels.sort_by_key(|channel| Reverse(channel.unacknowledged));
    Some(Clients { connections, channels })
}

fn connection(row: Fields<'_>, seconds: f64) -> Option<ConnectionCase> {
    let traffic = row.term("traffic").and_then(Term::as_tuple).unwrap_or_default();
    let rate = |index: usize| Some(traffic.get(index)?.as_f64()? / seconds);
    Some(ConnectionCase {
        pid: row.term("pid")?.as_pid()?.to_string(),
        name: row.text("name"),
        client: row.text("client"),
        user: row.text("user"),
        vhost: row.text("vhost"),
        protocol: row.text("protocol"),
        library: row.text("library"),
        state: row.word("state"),
        channels: row.number("channels").unwrap_or_default(),
        received_bytes_per_second: rate(0),
        sent_bytes_per_second: rate(1),
        send_pending: row.number("send_pending"),
    })
}

fn channel(row: Fields<'_>, seconds: f64) -> Option<ChannelCase> {
    let consumers = Consumers::from_term(row.term("consumers")?);
    let unacknowledged = row.number("unacknowledged").unwrap_or_default();
    let before = row.float("unacknowledged_before").unwrap_or_default();
    let sums = row.rates("sums", seconds);
    let rate = |index: usize| sums.as_ref()?.get(index).copied();
    Some(ChannelCase {
        pid: row.term("pid")?.as_pid()?.to_string(),
        name: row.text("name"),
        connection: row.pid("connection"),
        client: row.text("client"),
        user: row.text("user"),
        vhost: row.text("vhost"),
        consumers: consumers.count,
        consumers_without_ack: consumers.without_ack,
        prefetch: consumers.prefetch,
        global_prefetch: row.number("global_prefetch").unwrap_or_default(),
        unacknowledged,
        unacknowledged_growth: (unacknowledged as f64 - before) / seconds,
        unconfirmed: row.number("unconfirmed").unwrap_or_default(),
        is_confirming: row.is_true("confirming"),
        is_transactional: row.is_true("transactional"),
        consumed_queues: consumers.queues,
        published_per_second: rate(0),
        confirmed_per_second: rate(1),
        delivered_per_second: rate(2),
        acknowledged_per_second: rate(3),
        got_per_second: rate(4),
        get_empty_per_second: rate(5),
    })
}

/// The consumers of a channel.
#[derive(Debug, Default)]
struct Consumers {
    count: u64,
    without_ack: u64,
    prefetch: Option<u64>,
    queues: Vec<String>,
}

impl Consumers {
    /// Reads a tuple of both counts, prefetch and queues. A channel without consumers has none.
    fn from_term(term: &Term) -> Self {
        let Some([count, without_ack, prefetch, queues]) = term.as_tuple() else {
            return Self::default();
        };
        Self {
            count: count.as_u64().unwrap_or_default(),
            without_ack: without_ack.as_u64().unwrap_or_default(),
            prefetch: prefetch.as_u64(),
            queues: queues.as_list().unwrap_or_default().iter().filter_map(Term::to_text).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use rabbitscope_erlang::term::{Atom, Pid};

    use super::*;

    fn pid(id: u32) -> Term {
        Pid { node: Atom::new("a@b"), id, serial: 0, creation: 1 }.into()
    }

    fn read(channel: Term) -> Clients {
        let connection = Term::map([
            ("pid", pid(1)),
            ("name", Term::text("<script>\n")),
            ("state", Term::atom("flow")),
            ("traffic", Term::tuple([4000.into(), 2000.into()])),
            ("send_pending", 0.into()),
        ]);
        let answer = Term::map([
            ("connections", Term::map([("rows", Term::list([connection]))])),
            ("channels", Term::list([channel])),
        ]);
        clients(Fields(&answer), 2.0).unwrap()
    }

    #[test]
    fn a_channel_with_consumers_and_statistics() {
        let consumers =
            Term::tuple([2.into(), 1.into(), 10.into(), Term::list([Term::text("orders")])]);
        let clients = read(Term::map([
            ("pid", pid(2)),
            ("connection", pid(1)),
            ("client", Term::text("billing")),
            ("consumers", consumers),
            ("unacknowledged", 60.into()),
            ("unacknowledged_before", 10.into()),
            ("sums", Term::list([0, 0, 40, 20, 2, 8].map(Term::from))),
        ]));
        let channel = &clients.channels[0];
        assert_eq!((channel.connection.as_str(), channel.client.as_str()), ("<0.1.0>", "billing"));
        assert_eq!(
            (channel.consumers, channel.consumers_without_ack, channel.prefetch),
            (2, 1, Some(10))
        );
        assert_eq!((channel.unacknowledged, channel.unacknowledged_growth), (60, 25.0));
        assert_eq!((channel.got_per_second, channel.get_empty_per_second), (Some(1.0), Some(4.0)));
        let connection = &clients.connections[0];
        assert_eq!((connection.name.as_str(), connection.state.as_str()), ("<script>\n", "flow"));
        assert_eq!(connection.received_bytes_per_second, Some(2000.0));
    }

    #[test]
    fn a_channel_without_consumers_and_statistics() {
        let clients = read(Term::map([
            ("pid", pid(2)),
            ("consumers", Term::atom("none")),
            ("unacknowledged", Term::atom("unknown")),
            ("sums", Term::atom("unknown")),
        ]));
        let channel = &clients.channels[0];
        assert_eq!((channel.consumers, channel.prefetch, channel.unacknowledged), (0, None, 0));
        assert_eq!((channel.delivered_per_second, channel.connection.as_str()), (None, ""));
    }
}
