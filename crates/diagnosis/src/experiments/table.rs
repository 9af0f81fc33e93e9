//! The table of rules, and of settings that several rules change, with their experiments.

use super::{arm::Proof, clients, load::Load, node};
use crate::{case::Case, finding::Finding};

/// Shapes the load of a case, and returns the arms. `None` if the case lacks what they need.
pub(super) type Build = fn(&mut Load, &Case, &Finding) -> Option<Proof>;

/// An experiment, or the reason why a throwaway broker on one machine cannot show the finding.
#[derive(Clone, Copy)]
pub(super) enum Row {
    Experiment(Build),
    #[cfg_attr(not(test), expect(dead_code, reason = "for readers of the table"))]
    Without(&'static str),
}

use Row::{Experiment, Without};

const HARDWARE: &str = "it takes other hardware";
const OTHERS: &str = "it takes the other programs or the limits of that machine";
const NODES: &str = "it takes a cluster of several machines";
const INTENT: &str = "only the client's authors know what is right";
const ROOM: &str = "the change makes room, it does not make messages faster";

/// Experiments by rule. They precede those by setting.
pub(super) const BY_RULE: &[(&str, Row)] = &[
    ("memory-alarm", Without(ROOM)),
    ("disk-alarm", Without(ROOM)),
    ("descriptors", Without(ROOM)),
    ("steal", Without(HARDWARE)),
    ("throttling", Without(OTHERS)),
    ("neighbours", Without(OTHERS)),
    ("clients-beside", Without(OTHERS)),
    ("shared-cores", Without(OTHERS)),
    ("swap", Without(HARDWARE)),
    ("memory-pressure", Without(HARDWARE)),
    ("io-limit", Without(OTHERS)),
    ("wal-sync", Without(HARDWARE)),
    ("store-sync", Without(HARDWARE)),
    ("slow-disk", Without(HARDWARE)),
    ("few-schedulers", Experiment(node::all_schedulers)),
    ("many-schedulers", Without(OTHERS)),
    ("distribution-buffer", Without(NODES)),
    ("far-leaders", Without(NODES)),
    ("store-bound", Experiment(node::store_credit)),
    ("quorum-soft-limit", Experiment(node::commands_in_flight)),
    ("routing", Without("it takes another release of RabbitMQ")),
    ("statistics-overload", Experiment(node::statistics)),
    ("busy-wait", Experiment(node::no_busy_wait)),
    ("unacknowledged", Without("it shows in the client's memory, and after hours")),
    ("silent-consumer", Without(INTENT)),
    ("many-channels", Without(ROOM)),
    ("unroutable", Without(INTENT)),
    ("redeliveries", Without(INTENT)),
    ("mirroring", Experiment(node::no_mirrors)),
    ("tracing", Experiment(node::no_tracing)),
    ("leaders", Without(NODES)),
    ("unconsumed-queue", Without(INTENT)),
    ("long-quorum-queue", Without("it shows at a restart with millions of messages")),
    // The remedy is a smaller prefetch.
    ("packets-zero-window", Without(INTENT)),
    ("packets-receiver-limited", Without(INTENT)),
    ("own-load", Without("the finding is about the check itself")),
];

/// Experiments by the setting that a finding changes.
pub(super) const BY_SETTING: &[(&str, Row)] = &[
    ("prefetch", Experiment(clients::prefetch)),
    ("basic.ack multiple", Experiment(clients::multiple_acks)),
    ("basic.consume", Experiment(clients::consume)),
    ("confirm.select", Experiment(clients::no_transactions)),
    ("unconfirmed messages of publishers", Experiment(clients::confirms_in_flight)),
    ("channels of publishers", Experiment(clients::more_channels)),
    ("connections of publishers", Experiment(clients::more_publishing_connections)),
    ("connections of consumers", Experiment(clients::more_reading_connections)),
    ("number of queues", Experiment(clients::more_queues)),
    ("life of connections", Experiment(clients::lasting_connections)),
    ("life of channels", Experiment(clients::lasting_channels)),
    ("life of queues", Experiment(clients::lasting_queues)),
    ("classic_queue.default_version", Experiment(node::second_version)),
    ("queue-mode", Experiment(node::lazy)),
    ("requests to the management API", Experiment(node::requests)),
    (
        "prometheus.return_per_object_metrics",
        Without("no poller reaches that port of a throwaway broker"),
    ),
    ("virtual hosts", Without("a scenario has one virtual host")),
    ("nodes", Without(NODES)),
    ("TCP_NODELAY", Without("the load generator writes a message at once, so that nothing waits")),
    ("SO_SNDBUF", Without("it takes the network of the client")),
    ("tcp_listen_options.sndbuf", Without("it takes the network of the client")),
    ("rate of the publishers", Without(INTENT)),
];

/// Returns the experiment of a finding.
pub(super) fn proof_of(finding: &Finding) -> Option<Build> {
    match row(finding)? {
        Experiment(build) => Some(build),
        Without(_) => None,
    }
}

/// Returns the row of a finding.
fn row(finding: &Finding) -> Option<Row> {
    let find = |table: &[(&str, Row)], name: &str| {
        table.iter().find(|(known, _)| *known == name).map(|(_, row)| *row)
    };
    let by_setting = || find(BY_SETTING, &finding.change.as_ref()?.setting);
    find(BY_RULE, &finding.rule).or_else(by_setting)
}
