//! Rows of cases: queues, channels, connections, processes.

use crate::case::{
    Blocker, ChannelCase, ConnectionCase, FlowProcess, FunctionCpu, ProcessCpu, ProcessWaits,
    QueueCase, QueueKind, WaitedIn,
};

/// A queue with 1,000 messages a second in and out.
pub(super) fn queue(name: &str, kind: QueueKind) -> QueueCase {
    QueueCase {
        vhost: "/".to_owned(),
        name: name.to_owned(),
        kind,
        pid: format!("<0.{}.0>", name.len()),
        ready: 10,
        consumers: 1,
        consumer_capacity: Some(1.0),
        published_per_second: Some(1_000.0),
        delivered_per_second: Some(1_000.0),
        acknowledged_per_second: Some(1_000.0),
        classic_version: (kind == QueueKind::Classic).then_some(1),
        is_durable: true,
        ..QueueCase::default()
    }
}

/// A consumer of a queue, with 1,000 messages a second.
pub(super) fn consumer(client: &str, queue: &str) -> ChannelCase {
    ChannelCase {
        pid: format!("<0.{client}.0>"),
        name: "10.0.0.5:40000 -> 10.0.0.1:5672 (1)".to_owned(),
        client: client.to_owned(),
        user: "app".to_owned(),
        vhost: "/".to_owned(),
        consumers: 1,
        prefetch: Some(200),
        unacknowledged: 20,
        consumed_queues: vec![queue.to_owned()],
        delivered_per_second: Some(1_000.0),
        acknowledged_per_second: Some(1_000.0),
        ..ChannelCase::default()
    }
}

/// A publisher with confirms, with 1,000 messages a second.
pub(super) fn publisher(client: &str) -> ChannelCase {
    ChannelCase {
        pid: format!("<0.{client}.0>"),
        name: "10.0.0.6:40000 -> 10.0.0.1:5672 (1)".to_owned(),
        client: client.to_owned(),
        user: "app".to_owned(),
        vhost: "/".to_owned(),
        unconfirmed: 12,
        is_confirming: true,
        published_per_second: Some(1_000.0),
        confirmed_per_second: Some(1_000.0),
        ..ChannelCase::default()
    }
}

/// A connection of a client.
pub(super) fn connection(client: &str, name: &str) -> ConnectionCase {
    ConnectionCase {
        pid: format!("<0.{client}.1>"),
        name: name.to_owned(),
        client: client.to_owned(),
        user: "app".to_owned(),
        vhost: "/".to_owned(),
        channels: 1,
        received_bytes_per_second: Some(1e6),
        sent_bytes_per_second: Some(1e6),
        ..ConnectionCase::default()
    }
}

/// A process with samples.
pub(super) fn process(role: &str, name: &str, cores: f64) -> ProcessCpu {
    ProcessCpu {
        pid: format!("<0.{name}.0>"),
        role: role.to_owned(),
        name: name.to_owned(),
        cores,
        samples: 1_000,
        ..ProcessCpu::default()
    }
}

/// A function with CPU time.
pub(super) fn function(name: &str, cores: f64) -> FunctionCpu {
    FunctionCpu { name: name.to_owned(), cores }
}

/// A process that was blocked in a function.
pub(super) fn waiting(role: &str, name: &str, function: &str, share: f64) -> ProcessWaits {
    ProcessWaits {
        pid: format!("<0.{name}.0>"),
        role: role.to_owned(),
        name: name.to_owned(),
        blocked_share: share,
        runnable_share: 0.0,
        waits: 300,
        waited_in: vec![WaitedIn { function: function.to_owned(), share, waits: 300 }],
    }
}

/// A process of flow control: busy in `busy` of 300 looks, blocked in 240 by `blocker`.
pub(super) fn in_flow(role: &str, name: &str, busy: u64, blocker: Option<Blocker>) -> FlowProcess {
    FlowProcess {
        pid: format!("<0.{name}.0>"),
        role: role.to_owned(),
        name: name.to_owned(),
        looks: 300,
        busy,
        blocked: if blocker.is_some() { 240 } else { 0 },
        blocked_by: blocker.into_iter().map(|blocker| (blocker, 240)).collect(),
        ..FlowProcess::default()
    }
}

/// The process of that name as a blocker.
pub(super) fn by(name: &str) -> Blocker {
    Blocker::Process(format!("<0.{name}.0>"))
}
