//! The observed load of a node: the flows of its clients, and the objects that they use.

use core::net::SocketAddr;
use std::collections::BTreeMap;

use rabbitscope_diagnosis::{Answer, Case, PolledQueue, Source, Turns, WaitingPublisher};
use rabbitscope_erlang::{ConnectOptions, Connection};
use rabbitscope_wire::report::PacketReport;
use rabbitscope_workload::{self as workload, Flows, Topology};

use crate::{options::CheckOptions, pending::Pending};

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
pub(crate) fn turns(flows: &Flows, report: &PacketReport) -> Option<Turns> {
    let times: BTreeMap<&str, u64> = report
        .connections
        .iter()
        .filter(|one| one.from_broker.round_trips.count > 0)
        .map(|one| (one.client.as_str(), one.from_broker.round_trips.min))
        .collect();
    let round_trip = |client: SocketAddr| times.get(client.to_string().as_str()).copied();
    let workload::Turns { seconds, published, publishers, polled } = flows.turns(&round_trip);
    let publisher = |one: workload::WaitingPublisher| WaitingPublisher {
        client: one.client.to_string(),
        messages: one.messages,
        answer: match one.answer {
            workload::Answer::Confirm => Answer::Confirm,
            workload::Answer::Commit => Answer::Commit,
            workload::Answer::Reply => Answer::Reply,
        },
        window: one.window,
        waiting: one.waiting,
    };
    let polled_queue = |one: workload::PolledQueue| PolledQueue {
        vhost: one.vhost,
        queue: one.queue,
        client: one.client.to_string(),
        gets: one.gets,
        empty: one.empty,
    };
    (flows.messages() != (0, 0)).then(|| Turns {
        seconds,
        published,
        publishers: publishers.into_iter().map(publisher).collect(),
        polled: polled.into_iter().map(polled_queue).collect(),
    })
}
