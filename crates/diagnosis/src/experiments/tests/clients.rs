//! Loads of clients, and the arms of findings about them.

use std::time::Duration;

use rabbitscope_runs::scenario::{QueueType, Scenario};
use rabbitscope_wire::report::{
    ConnectionReport, FrameCount, LatencyKind, LatencyReport, MessageFigures, PacketReport,
    RoundTrips, SocketReport,
};

use super::case::{arms, case, finding, none, queue};
use crate::case::{
    Answer, Blocker, Churn, Flow, FlowProcess, QueueCase, QueueKind, Turns, WaitingPublisher,
};

#[test]
fn the_load_is_like_the_observed_one() {
    let (_, [observed, _]) = arms(&case(), finding("busy-wait", "rabbit@a", ""));
    let (publisher, consumer) = (&observed.publishers[0], &observed.consumers[0]);
    assert_eq!(publisher.rate, Some(4_000.0));
    assert_eq!((publisher.count, publisher.confirm_window), (1, Some(40)));
    assert_eq!(publisher.size, Some(500));
    assert_eq!((consumer.count, consumer.connections, consumer.prefetch), (2, 1, Some(1)));
    assert!(observed.queues[0].durable && publisher.persistent == Some(true));
    assert_eq!(observed.queues[0].queue_type, QueueType::Classic);
}

#[test]
fn packets_tell_sizes_windows_and_times() {
    let body = FrameCount {
        kind: "body".to_owned(),
        frames: 100,
        bytes: 100 * 2_008,
        ..FrameCount::default()
    };
    let publish = FrameCount { kind: "basic.publish".to_owned(), frames: 100, ..body.clone() };
    let messages = MessageFigures {
        max_unconfirmed: 7,
        delivered: 400,
        acks: 100,
        ..MessageFigures::default()
    };
    let mut to_ack = LatencyReport {
        kind: LatencyKind::DeliverToAck,
        mean: 0.0,
        min: 0,
        percentiles: rabbitscope_text::Percentiles::default(),
        unmatched: rabbitscope_wire::report::Unmatched::default(),
    };
    to_ack.percentiles.p50 = 40_000_000;
    let mut case = case();
    case.packets = Ok(PacketReport {
        frames: vec![body, publish],
        connections: vec![ConnectionReport { messages, ..ConnectionReport::default() }],
        latencies: vec![to_ack],
        ..PacketReport::default()
    });
    case.clients.as_mut().unwrap().channels[1].prefetch = Some(8);
    let (_, [observed, _]) = arms(&case, finding("low-prefetch", "shop", "prefetch"));
    let (publisher, consumer) = (&observed.publishers[0], &observed.consumers[0]);
    assert_eq!(publisher.size, Some(2_000));
    assert_eq!(publisher.confirm_window, Some(7));
    assert_eq!(consumer.multi_ack_every, 4);
    assert_eq!(consumer.processing_time, Some(Duration::from_millis(5)));
    // A far client, and one that acknowledges with its next message: the kernel knows the way.
    let mut processing_time = |captured, of_kernel| {
        let packets = case.packets.as_mut().unwrap();
        let connection = &mut packets.connections[0];
        connection.client = "10.0.0.7:4000".to_owned();
        connection.from_broker.round_trips =
            RoundTrips { count: 400, min: captured, mean: captured, max: captured };
        connection.kernel_round_trip_nanos = Some(of_kernel);
        packets.sockets = vec![SocketReport::default()];
        let (_, [observed, _]) = arms(&case, finding("low-prefetch", "shop", "prefetch"));
        observed.consumers[0].processing_time
    };
    assert_eq!(processing_time(8_000_000, 8_000_000), Some(Duration::from_millis(4)));
    assert_eq!(processing_time(40_000_000, 0), Some(Duration::from_millis(5)));
}

#[test]
fn packets_stand_in_for_statistics() {
    let mut case = case();
    case.clients = Ok(crate::case::Clients::default());
    let publishing =
        MessageFigures { published: 400, max_unconfirmed: 9, ..MessageFigures::default() };
    let reading =
        MessageFigures { delivered: 400, max_unacknowledged: 2, ..MessageFigures::default() };
    let rows = [publishing.clone(), publishing, reading];
    let connections =
        rows.map(|messages| ConnectionReport { messages, ..ConnectionReport::default() });
    case.packets = Ok(PacketReport { connections: connections.into(), ..PacketReport::default() });
    let (_, [observed, _]) = arms(&case, finding("packets-application-limited", "", "prefetch"));
    let (publisher, consumer) = (&observed.publishers[0], &observed.consumers[0]);
    assert_eq!((publisher.count, publisher.confirm_window), (2, Some(9)));
    assert_eq!(consumer.prefetch, Some(2));
}

#[test]
fn consumers_get_a_prefetch() {
    let (metric, [observed, changed]) = arms(
        &case(),
        finding("low-prefetch", "shop (10.0.0.2:1 -> 10.0.0.9:5672 (1))", "prefetch"),
    );
    assert_eq!(metric, "consumed.rate");
    assert_eq!(
        (observed.consumers[0].prefetch, changed.consumers[0].prefetch),
        (Some(1), Some(200))
    );
    assert_eq!(observed.publishers[0].rate, None);
    let mut unlimited = case();
    unlimited.clients.as_mut().unwrap().channels[1].prefetch = Some(0);
    none(&unlimited, finding("low-prefetch", "shop", "prefetch"));
}

#[test]
fn consumers_acknowledge_several_messages() {
    let mut case = case();
    let found = || finding("packets-ack-per-message", "shop", "basic.ack multiple");
    none(&case, found());
    case.clients.as_mut().unwrap().channels[1].prefetch = Some(100);
    let (metric, [observed, changed]) = arms(&case, found());
    assert_eq!(metric, "consumed.rate");
    let each = |scenario: &Scenario| scenario.consumers[0].multi_ack_every;
    assert_eq!((each(&observed), each(&changed)), (1, 50));
}

#[test]
fn pollers_consume() {
    let mut case = case();
    case.queues.as_mut().unwrap().rows[0].consumers = 0;
    let poller = &mut case.clients.as_mut().unwrap().channels[1];
    (poller.consumers, poller.get_empty_per_second) = (0, Some(200.0));
    let (metric, [observed, changed]) = arms(&case, finding("polling", "shop", "basic.consume"));
    assert_eq!(metric, "broker.cpu-per-message");
    assert_eq!(observed.consumers[0].polled_every(), Some(std::time::Duration::from_millis(5)));
    assert_eq!(
        (changed.consumers[0].polled_every(), changed.consumers[0].prefetch),
        (None, Some(200))
    );
    assert_eq!(observed.publishers[0].rate, Some(4_000.0));
    // The node counts the gets of no channel, and the channel also consumes.
    case.queues.as_mut().unwrap().rows[0].consumers = 2;
    case.clients.as_mut().unwrap().channels[1].get_empty_per_second = None;
    none(&case, finding("polling", "shop", "basic.consume"));
    case.broker.as_mut().unwrap().rates.got = Some(10.0);
    let (_, [observed, _]) = arms(&case, finding("polling", "shop", "basic.consume"));
    assert_eq!(observed.consumers[0].polled_every(), Some(std::time::Duration::from_millis(100)));
}

#[test]
fn publishers_confirm() {
    let (metric, [observed, changed]) =
        arms(&case(), finding("transactions", "shop", "confirm.select"));
    assert_eq!(metric, "published.rate");
    let kinds = |scenario: &Scenario| {
        (scenario.publishers[0].tx_size, scenario.publishers[0].confirm_window)
    };
    assert_eq!((kinds(&observed), kinds(&changed)), ((Some(1), None), (None, Some(100))));
    let setting = "unconfirmed messages of publishers";
    let (metric, [observed, changed]) =
        arms(&case(), finding("packets-application-limited", "", setting));
    assert_eq!(metric, "published.rate");
    assert_eq!((kinds(&observed), kinds(&changed)), ((None, Some(1)), (None, Some(100))));
    let mut waiting = case();
    waiting.turns = Some(Turns {
        publishers: vec![WaitingPublisher {
            client: "10.0.0.6:4711".to_owned(),
            messages: 12_000,
            answer: Answer::Confirm,
            window: Some(10),
            waiting: 0.8,
        }],
        ..Turns::default()
    });
    let (_, [observed, changed]) = arms(&waiting, finding("confirm-window", "shop", setting));
    assert_eq!((kinds(&observed), kinds(&changed)), ((None, Some(10)), (None, Some(100))));
}

#[test]
fn there_are_more_channels_and_connections() {
    let counts = |scenario: &Scenario| {
        let (publishers, consumers) = (&scenario.publishers[0], &scenario.consumers[0]);
        [publishers.count, publishers.connections, consumers.count, consumers.connections]
    };
    for (setting, primary, expected) in [
        ("channels of publishers", "published.rate", [4, 1, 2, 1]),
        ("connections of publishers", "published.rate", [4, 4, 2, 1]),
        ("connections of consumers", "consumed.rate", [1, 1, 4, 4]),
    ] {
        let (metric, [observed, changed]) =
            arms(&case(), finding("saturated-process", "", setting));
        assert_eq!(metric, primary);
        assert_eq!((counts(&observed), counts(&changed)), ([1, 1, 2, 1], expected), "{setting}");
    }
}

#[test]
fn there_are_more_queues_with_consumers() {
    let mut case = case();
    let other = QueueCase { pid: "<0.5.0>".to_owned(), ..queue("others", QueueKind::Quorum) };
    case.queues.as_mut().unwrap().rows.push(other);
    let channel = |number: u32| FlowProcess {
        pid: format!("<0.{number}.0>"),
        role: "channel".to_owned(),
        looks: 100,
        blocked: 90,
        blocked_by: vec![(Blocker::Process("<0.106.0>".to_owned()), 90)],
        ..FlowProcess::default()
    };
    case.flow = Ok(Flow { processes: (0..7).map(channel).collect(), ..Flow::default() });
    let (metric, [observed, changed]) =
        arms(&case, finding("queue-bound", "orders", "number of queues"));
    assert_eq!(metric, "consumed.rate");
    assert_eq!((observed.queues.len(), observed.queues[0].to), (1, Some(1)));
    assert_eq!(observed.publishers[0].count, 7);
    assert_eq!((observed.consumers[0].count, changed.consumers[0].count), (4, 4));
    assert_eq!(changed.queues[0].to, Some(4));
    // The finding is about the other queue, a process of which is named.
    let (_, [observed, _]) =
        arms(&case, finding("queue-bound", "quorum_leader others", "number of queues"));
    assert_eq!(observed.queues[0].queue_type, QueueType::Quorum);
}

#[test]
fn things_stay_open() {
    let mut case = case();
    let churn = Churn {
        connections_opened: 20.0,
        channels_opened: 300.0,
        queues_created: 12.0,
        ..Churn::default()
    };
    case.broker.as_mut().unwrap().churn = Some(churn);
    for (setting, rate) in
        [("life of connections", 20.0), ("life of channels", 200.0), ("life of queues", 12.0)]
    {
        let (metric, [observed, changed]) = arms(&case, finding("", "", setting));
        assert_eq!(metric, "broker.cpu-per-message");
        assert_eq!((observed.churn[0].rate, changed.churn[0].rate), (Some(rate), Some(0.001)));
    }
    none(&super::case::case(), finding("", "", "life of queues"));
}
