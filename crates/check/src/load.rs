//! The observed load of a node: the flows of its clients, and the objects that they use.

use core::net::SocketAddr;

use rabbitscope_diagnosis::{Case, ChannelCase, Source};
use rabbitscope_erlang::{ConnectOptions, Connection};
use rabbitscope_wire::{
    report::PacketReport,
    turns::{Turns, WaitingPublisher},
};
use rabbitscope_workload::{Flows, Topology};

use crate::{options::CheckOptions, pending::Pending};

/// Name of the protocol whose publishes have no number.
const AMQP_091: &str = "AMQP 0-9-1";

/// The load of a node's clients.
#[derive(Debug)]
pub struct ObservedLoad {
    /// Flows of messages.
    pub flows: Flows,
    /// Exchanges, queues, bindings, policies and consumers of the node, or the reason why it was not asked.
    pub objects: Result<Topology, String>,
}

/// Objects that a thread is reading, or the reason against it.
pub(crate) type PendingObjects = Pending<Result<Topology, String>>;

/// Starts to read the objects, with a connection of its own, so that a slow answer delays nothing else.
pub(crate) fn start_objects(options: &CheckOptions) -> PendingObjects {
    let connect = options.connect.clone();
    Pending::start(Source::Node, move |results| {
        let objects = connect.map_err(|unread| unread.reason).and_then(|connect| objects(&connect));
        let _ = results.send(objects);
    })
}

fn objects(connect: &ConnectOptions) -> Result<Topology, String> {
    let read = || -> anyhow::Result<Topology> {
        let connection = Connection::open(connect)?;
        Ok(Topology::from_definitions(&rabbitscope_inside::read_objects(&connection)?)?)
    };
    read().map_err(|error| format!("{error:#}"))
}

/// Returns the load, or the reason why the packets do not show it.
pub(crate) fn observed(
    case: &Case,
    flows: Option<Flows>,
    objects: Result<Topology, String>,
) -> Result<ObservedLoad, String> {
    let packets = case.packets.as_ref().map_err(|unread| unread.reason.clone())?;
    if packets.capture.is_none() {
        let refused = packets.sources.iter().find(|source| !source.present);
        let reason = refused.map_or("no interface", |source| &source.note);
        return Err(format!("packets were not captured: {reason}"));
    }
    let flows = flows.ok_or("packets were not captured")?;
    let (published, delivered) = flows.messages();
    if published + delivered == 0 {
        return Err("no message was observed: TLS hides messages".to_owned());
    }
    Ok(ObservedLoad { flows, objects })
}

/// Returns the clients that do one thing after the other; none if no message was observed. The report has the times to the
/// clients and back.
pub(crate) fn turns(
    flows: &Flows,
    report: &PacketReport,
    channels: &[ChannelCase],
) -> Option<Turns> {
    let times = report.smallest_round_trips();
    let round_trip = |client: SocketAddr| times.get(client.to_string().as_str()).copied();
    let mut turns = flows.turns(&round_trip);
    for publisher in &mut turns.publishers {
        publisher.window = window(publisher, report, channels);
    }
    (flows.messages() != (0, 0) || turns.published > 0).then_some(turns)
}

/// Returns the most unconfirmed messages of a publisher. In the middle of a connection of AMQP 0-9-1, packets alone do not
/// tell how many are always unconfirmed. The statistics of its channels do; none without them.
fn window(
    publisher: &WaitingPublisher,
    report: &PacketReport,
    channels: &[ChannelCase],
) -> Option<u32> {
    let client = &publisher.client;
    let connection = report.connections.iter().find(|one| one.client == *client)?;
    if connection.from_the_start || connection.protocol != AMQP_091 {
        return publisher.window;
    }
    let is_its = |row: &&ChannelCase| {
        row.is_confirming && row.name.split_once(" -> ").is_some_and(|(from, _)| from == *client)
    };
    let known = channels.iter().filter(is_its).map(|row| row.unconfirmed).max()?;
    Some(publisher.window?.max(u32::try_from(known).unwrap_or(u32::MAX)))
}

#[cfg(test)]
mod tests {
    use rabbitscope_wire::{report::ConnectionReport, turns::Answer};

    use super::*;

    #[test]
    fn a_window_is_known_from_the_start_or_by_statistics() {
        let publisher = WaitingPublisher {
            client: "127.0.0.1:4000".to_owned(),
            messages: 5_000,
            answer: Answer::Confirm,
            window: Some(1),
            waiting: 0.9,
        };
        let report = |protocol: &str, from_the_start| PacketReport {
            connections: vec![ConnectionReport {
                client: "127.0.0.1:4000".to_owned(),
                protocol: protocol.to_owned(),
                from_the_start,
                ..ConnectionReport::default()
            }],
            ..PacketReport::default()
        };
        let channel = |unconfirmed| ChannelCase {
            name: "127.0.0.1:4000 -> 127.0.0.1:5672 (1)".to_owned(),
            is_confirming: true,
            unconfirmed,
            ..ChannelCase::default()
        };
        let joined = report(AMQP_091, false);
        assert_eq!(window(&publisher, &report(AMQP_091, true), &[]), Some(1));
        assert_eq!(window(&publisher, &report("MQTT", false), &[]), Some(1));
        assert_eq!(window(&publisher, &joined, &[]), None);
        assert_eq!(window(&publisher, &joined, &[channel(0)]), Some(1));
        // Each confirm lets it publish one more, so that 99 are always unconfirmed.
        assert_eq!(window(&publisher, &joined, &[channel(99)]), Some(99));
    }
}
