//! Messages that wait: for clients that ask for one at a time, and without an explanation.

use rabbitscope_text::Percentiles;
use rabbitscope_wire::{
    packet::Timestamp,
    report::{ConnectionReport, LatencyKind, LatencyReport, MessageFigures, Unmatched},
};

use super::cases::{check, found, healthy};
use crate::{
    case::{
        BusyReader, Case, ChannelCase, Churn, PolledQueue, ProcessWaits, QueueCase, QueueKind,
        Turns, WaitedIn,
    },
    limit::{Certainty, LimitKind},
};

/// A queue with this growth of its 8,000 ready messages.
fn queue(consumers: u64, ready_growth: f64) -> QueueCase {
    let (vhost, name) = ("/".to_owned(), "orders".to_owned());
    QueueCase { vhost, name, ready: 8_000, ready_growth, consumers, ..QueueCase::default() }
}

/// A node with this queue, which a client asks 1,000 times.
fn polled(queue: QueueCase, empty: u64) -> Case {
    let mut case = healthy();
    let (vhost, client) = (None, "127.0.0.1:40000".to_owned());
    let one = PolledQueue { vhost, queue: queue.name.clone(), client, gets: 1_000, empty };
    case.queues.as_mut().unwrap().rows = vec![queue];
    Case { turns: Some(Turns { polled: vec![one], ..Turns::default() }), ..case }
}

#[test]
fn clients_that_ask_for_one_message_at_a_time_are_the_limit() {
    for growth in [0.0, 300.0, -20.0] {
        let case = polled(queue(0, growth), 10);
        check(&case, LimitKind::Consumers, "orders", Certainty::Certain);
        assert!(found(&case).evidence[0].figure.contains("1,000 gets, 10 of them in vain"));
    }
}

#[test]
fn polling_that_keeps_up_or_finds_nothing_is_no_limit() {
    // The backlog is gone in four seconds.
    check(&polled(queue(0, -2_000.0), 10), LimitKind::Nothing, "", Certainty::Certain);
    let mut of_another = polled(queue(0, 0.0), 10);
    of_another.turns.as_mut().unwrap().polled[0].queue = "invoices".to_owned();
    check(&of_another, LimitKind::Nothing, "", Certainty::Certain);
    let mut few = polled(queue(0, 0.0), 1);
    few.turns.as_mut().unwrap().polled[0].gets = 10;
    check(&few, LimitKind::Nothing, "", Certainty::Certain);
    check(&polled(queue(0, 0.0), 900), LimitKind::Nothing, "", Certainty::Certain);
}

/// A queue with 8,000 ready messages, and with five at a channel of unknown prefetch. The client takes this long for each of
/// 500 messages a second.
fn of_unknown_prefetch(nanos: u32) -> Case {
    let mut case = healthy();
    case.queues.as_mut().unwrap().rows = vec![QueueCase { unacknowledged: 5, ..queue(1, 0.0) }];
    case.clients.as_mut().unwrap().channels = vec![ChannelCase {
        name: "10.0.0.7:4000 -> 10.0.0.1:5672 (1)".to_owned(),
        vhost: "/".to_owned(),
        consumers: 1,
        consumed_queues: vec!["orders".to_owned()],
        ..ChannelCase::default()
    }];
    let times = LatencyReport {
        kind: LatencyKind::DeliverToAck,
        mean: f64::from(nanos),
        min: 1,
        percentiles: Percentiles { count: 5_000, ..Percentiles::default() },
        unmatched: Unmatched::default(),
    };
    case.packets.as_mut().unwrap().connections = vec![ConnectionReport {
        client: "10.0.0.7:4000".to_owned(),
        last: Timestamp::from_unix_nanos(10_000_000_000),
        messages: MessageFigures { delivered: 5_000, ..MessageFigures::default() },
        latencies: vec![times],
        ..ConnectionReport::default()
    }];
    case
}

#[test]
fn clients_that_hold_what_they_have_are_the_limit() {
    let slow = of_unknown_prefetch(9_500_000);
    check(&slow, LimitKind::Consumers, "orders", Certainty::Uncertain);
    assert!(found(&slow).evidence[0].figure.starts_with("4.8 of 5 messages are at the clients"));
    // The others wait in the node.
    check(&of_unknown_prefetch(3_000_000), LimitKind::Unknown, "", Certainty::Uncertain);
    let mut drained = of_unknown_prefetch(9_500_000);
    drained.queues.as_mut().unwrap().rows[0].ready_growth = -4_000.0;
    drained.broker.as_mut().unwrap().rates.delivered = Some(500_000.0);
    check(&drained, LimitKind::Nothing, "", Certainty::Certain);
}

#[test]
fn several_channels_of_a_connection_share_its_messages() {
    let with = |others: u64| {
        let mut case = of_unknown_prefetch(9_500_000);
        let channels = &mut case.clients.as_mut().unwrap().channels;
        let mut second = channels[0].clone();
        second.name = second.name.replace("(1)", "(2)");
        let mut third = second.clone();
        third.consumed_queues = vec!["invoices".to_owned()];
        channels.extend([second, third]);
        let name = "invoices".to_owned();
        let invoices = QueueCase { name, ready: 0, unacknowledged: others, ..queue(1, 0.0) };
        case.queues.as_mut().unwrap().rows.push(invoices);
        case
    };
    check(&with(0), LimitKind::Consumers, "orders", Certainty::Uncertain);
    // Most of what the packets show may be of the other queue.
    check(&with(5), LimitKind::Unknown, "", Certainty::Uncertain);
}

#[test]
fn a_backlog_without_an_explanation_is_not_nothing() {
    let mut case = healthy();
    for growth in [0.0, 50.0, -100.0] {
        case.queues.as_mut().unwrap().rows = vec![queue(2, growth)];
        check(&case, LimitKind::Unknown, "", Certainty::Uncertain);
        assert!(found(&case).sentence.contains("8000 messages of orders wait for its consumers"));
    }
    // That of a burst, among many more messages.
    case.queues.as_mut().unwrap().rows = vec![queue(2, -4_000.0)];
    case.broker.as_mut().unwrap().rates.delivered = Some(20_000.0);
    check(&case, LimitKind::Nothing, "", Certainty::Certain);
}

#[test]
fn a_backlog_that_most_deliveries_came_from_is_not_nothing() {
    let mut case = healthy();
    let drained = QueueCase { ready: 0, ..queue(2, -20_000.0) };
    case.queues.as_mut().unwrap().rows = vec![drained];
    case.broker.as_mut().unwrap().rates.delivered = Some(21_000.0);
    check(&case, LimitKind::Unknown, "", Certainty::Uncertain);
    assert!(found(&case).sentence.contains("300000 messages of orders waited at first"));
    // Few messages, as those of a look between two writes.
    case.queues.as_mut().unwrap().rows[0].ready_growth = -50.0;
    check(&case, LimitKind::Nothing, "", Certainty::Certain);
}

#[test]
fn a_queue_that_does_not_answer_is_not_empty() {
    let mut case = healthy();
    case.queues.as_mut().unwrap().silent = vec!["orders".to_owned()];
    check(&case, LimitKind::Unknown, "", Certainty::Uncertain);
    assert!(found(&case).sentence.contains("the queue orders did not answer in time"));
}

/// A node with this queue, on whose messages a reader works for a part of its time.
fn read(queue: QueueCase, name: Option<&str>, reads_stream: bool, working: f64) -> Case {
    let mut case = healthy();
    let worker = BusyReader {
        client: "127.0.0.1:40000".to_owned(),
        vhost: None,
        queue: name.map(str::to_owned),
        reads_stream,
        messages: 3_000,
        working,
    };
    case.queues.as_mut().unwrap().rows = vec![queue];
    Case { turns: Some(Turns { workers: vec![worker], ..Turns::default() }), ..case }
}

#[test]
fn a_reader_that_always_works_is_the_limit_of_a_stream() {
    let stream = || QueueCase { kind: QueueKind::Stream, ..queue(1, 1_500.0) };
    check(
        &read(stream(), Some("orders"), false, 0.97),
        LimitKind::Consumers,
        "orders",
        Certainty::Certain,
    );
    // Its subscription is older than the capture: the only stream is its own.
    check(&read(stream(), None, true, 0.97), LimitKind::Consumers, "orders", Certainty::Certain);
    let mut two = read(stream(), None, true, 0.97);
    two.queues.as_mut().unwrap().rows.push(QueueCase { name: "logs".to_owned(), ..stream() });
    check(&two, LimitKind::Consumers, "127.0.0.1:40000", Certainty::Certain);
    check(&read(stream(), Some("orders"), false, 0.6), LimitKind::Nothing, "", Certainty::Certain);
}

#[test]
fn a_reader_of_unknown_prefetch_that_always_works_is_perhaps_the_limit() {
    let case = |ready, working| {
        let queue = QueueCase { ready, ..queue(1, 0.0) };
        read(queue, Some("orders"), false, working)
    };
    check(&case(8_000, 0.97), LimitKind::Consumers, "orders", Certainty::Uncertain);
    check(&case(0, 0.97), LimitKind::Nothing, "", Certainty::Certain);
}

/// Packets alone show what the clients of a stream hold.
#[test]
fn consumers_of_a_stream_hold_what_they_have_not_acknowledged() {
    let mut case = of_unknown_prefetch(9_500_000);
    let stream = &mut case.queues.as_mut().unwrap().rows[0];
    (stream.kind, stream.unacknowledged) = (QueueKind::Stream, 0);
    case.clients.as_mut().unwrap().channels[0].prefetch = Some(5);
    check(&case, LimitKind::Consumers, "orders", Certainty::Certain);
    // A chunk of the stream fills the prefetch, and the clients keep pace.
    let channel = &mut case.clients.as_mut().unwrap().channels[0];
    (channel.prefetch, channel.unacknowledged) = (Some(2_000), 2_000);
    check(&case, LimitKind::Nothing, "", Certainty::Likely);
}

/// A node with this queue, which delivers 250 messages a second.
fn repeated(queue: QueueCase, redelivered: f64) -> Case {
    let mut case = healthy();
    case.queues.as_mut().unwrap().rows = vec![queue];
    let rates = &mut case.broker.as_mut().unwrap().rates;
    (rates.delivered, rates.redelivered) = (Some(250.0), Some(redelivered));
    case
}

#[test]
fn clients_that_settle_hardly_a_message_are_the_limit() {
    let looping = repeated(queue(0, 200.0), 245.0);
    check(&looping, LimitKind::Consumers, "orders", Certainty::Uncertain);
    assert!(
        found(&looping).sentence.starts_with("clients return the messages of orders, or leave")
    );
    let beside = |other: QueueCase| {
        let mut case = repeated(queue(1, 0.0), 250.0);
        let name = "invoices".to_owned();
        case.queues.as_mut().unwrap().rows.push(QueueCase { name, ..other });
        case
    };
    check(&beside(queue(1, 0.0)), LimitKind::Consumers, "", Certainty::Uncertain);
    // No client reads the other queue. Counters of queues tell it better than the consumers at the end.
    check(&beside(queue(0, 0.0)), LimitKind::Consumers, "orders", Certainty::Uncertain);
    let mut unread = repeated(queue(0, 200.0), 245.0);
    unread.queues.as_mut().unwrap().rows[0].delivered_per_second = Some(0.0);
    check(&unread, LimitKind::Nothing, "", Certainty::Certain);
    // Few are repeated; a burst of them is consumed; there are too few to judge.
    check(&repeated(queue(0, 200.0), 20.0), LimitKind::Nothing, "", Certainty::Certain);
    check(&repeated(queue(0, -4_000.0), 250.0), LimitKind::Nothing, "", Certainty::Certain);
    let mut few = repeated(queue(0, 200.0), 5.0);
    few.broker.as_mut().unwrap().rates.delivered = Some(5.0);
    check(&few, LimitKind::Nothing, "", Certainty::Certain);
}

#[test]
fn clients_that_come_and_go_leave_a_doubt() {
    let with = |connections_opened, queue| {
        let mut case = repeated(queue, 0.0);
        let churn = Churn { connections_opened, ..Churn::default() };
        case.broker.as_mut().unwrap().churn = Some(churn);
        case
    };
    let visited = with(5.0, queue(0, 195.0));
    check(&visited, LimitKind::Nothing, "", Certainty::Uncertain);
    assert!(found(&visited).sentence.contains("clients come and go while messages of orders wait"));
    let served_by_none = QueueCase { delivered_per_second: Some(0.0), ..queue(0, 195.0) };
    for healthy in [with(0.2, queue(0, 195.0)), with(5.0, queue(0, 0.0)), with(5.0, served_by_none)]
    {
        check(&healthy, LimitKind::Nothing, "", Certainty::Certain);
    }
}

#[test]
fn queues_that_wait_while_tasks_wait_for_a_disk_are_limited_by_it() {
    let with = |io_pressure, silent: &[&str], rows: Vec<QueueCase>| {
        let mut case = healthy();
        case.host.as_mut().unwrap().io_pressure = Some(io_pressure);
        let queues = case.queues.as_mut().unwrap();
        queues.rows = rows;
        queues.silent = silent.iter().map(|&name| name.to_owned()).collect();
        case
    };
    let silent = with(0.8, &["cold"], Vec::new());
    check(&silent, LimitKind::Disk, "the queue cold", Certainty::Uncertain);
    // A queue that answers has messages. Others may have caused the pressure, unless its waits are seen.
    let behind = |share| {
        let mut case = with(0.8, &[], vec![queue(1, 0.0)]);
        let function = "prim_file:pread_nif/3".to_owned();
        case.waits.as_mut().unwrap().processes = vec![ProcessWaits {
            role: "queue".to_owned(),
            waited_in: vec![WaitedIn { function, share, waits: 2 }],
            ..ProcessWaits::default()
        }];
        case
    };
    check(&behind(0.4), LimitKind::Disk, "the queue orders", Certainty::Uncertain);
    check(&behind(0.1), LimitKind::Unknown, "", Certainty::Uncertain);
    // Other programs use the disk; the disk is free while a queue does not answer.
    for rows in [vec![queue(0, 0.0)], Vec::new()] {
        check(&with(0.8, &[], rows), LimitKind::Nothing, "", Certainty::Certain);
    }
    check(&with(0.4, &["cold"], Vec::new()), LimitKind::Unknown, "", Certainty::Uncertain);
}
