//! Publishers that wait for each confirm, and those that only look like it.

use rabbitscope_text::Percentiles;
use rabbitscope_wire::{
    packet::Timestamp,
    report::{
        CaptureReport, ConnectionReport, LatencyKind, LatencyReport, MessageFigures, RoundTrips,
        SocketReport, Unmatched,
    },
};

use super::cases::{check, found, healthy, process};
use crate::{
    case::{Answer, Case, ChannelCase, Turns, WaitingPublisher},
    limit::{Certainty, LimitKind},
};

const CLIENT: &str = "127.0.0.1:40000";

/// A connection that takes turns for 15 s, in the middle of which the capture began. Times are in nanoseconds.
fn turns(wait: u64, pause: u64) -> ConnectionReport {
    let published = 15_000_000_000 / (wait + pause);
    let messages = MessageFigures {
        published,
        confirms: published,
        turns: published - 1,
        turn_wait_nanos: (published - 1) * wait,
        turn_pause_nanos: (published - 1) * pause,
        ..MessageFigures::default()
    };
    let last = Timestamp::from_unix_nanos(15_000_000_000);
    let client = CLIENT.to_owned();
    ConnectionReport { client, channels: 1, messages, last, ..ConnectionReport::default() }
}

/// A node with this connection, whose channel has so many unconfirmed messages.
fn case(connection: ConnectionReport, unconfirmed: u64) -> Case {
    let mut case = healthy();
    case.packets.as_mut().unwrap().connections = vec![connection];
    case.clients.as_mut().unwrap().channels = vec![ChannelCase {
        name: format!("{CLIENT} -> 127.0.0.1:5672 (1)"),
        is_confirming: true,
        unconfirmed,
        ..ChannelCase::default()
    }];
    case
}

#[test]
fn a_publisher_that_waits_for_each_confirm_is_the_limit() {
    let slow_broker = case(turns(3_000_000, 500_000), 1);
    check(&slow_broker, LimitKind::Publishers, CLIENT, Certainty::Certain);
    let limit = found(&slow_broker);
    assert!(limit.sentence.ends_with("waits for the confirm of each message before the next one"));
    assert!(limit.evidence[0].figure.contains("the broker has 86 % of the time"), "{limit:#?}");
    // On loopback both sides are fast.
    let loopback = case(turns(300_000, 200_000), 0);
    check(&loopback, LimitKind::Publishers, CLIENT, Certainty::Certain);
}

#[test]
fn a_client_that_takes_most_of_the_time_is_named_without_certainty() {
    let own = case(turns(300_000, 1_000_000), 1);
    check(&own, LimitKind::Publishers, CLIENT, Certainty::Uncertain);
    assert!(found(&own).sentence.contains("a clock, or work of the client"));
}

/// Seen at the node, the confirm and the next message are 20 ms on their way.
#[test]
fn a_far_client_loses_time_on_the_way() {
    let mut connection = turns(300_000, 20_400_000);
    connection.from_broker.round_trips =
        RoundTrips { count: 9, min: 20_000_000, ..RoundTrips::default() };
    let far = case(connection, 1);
    check(&far, LimitKind::Publishers, CLIENT, Certainty::Certain);
    let figure = &found(&far).evidence[0].figure;
    assert!(
        figure.contains("20.0 ms on the way to the client and back, 400 µs from there"),
        "{figure}"
    );
    assert!(figure.contains("the broker has 1 % of the time"), "{figure}");
}

/// A client that pauses acknowledges with what it sends next, so the capture sees its pause as the way.
#[test]
fn a_client_that_pauses_is_not_far() {
    let mut connection = turns(145_000, 2_140_000);
    connection.from_broker.round_trips =
        RoundTrips { count: 9, min: 2_060_000, ..RoundTrips::default() };
    connection.kernel_round_trip_nanos = Some(30_000);
    let mut pausing = case(connection, 1);
    pausing.packets.as_mut().unwrap().sockets = vec![SocketReport::default()];
    check(&pausing, LimitKind::Nothing, "", Certainty::Likely);
}

/// Many publishers that wait for each confirm can fill the node.
#[test]
fn publishers_whose_node_is_busy_are_not_certain() {
    let on_a_node = |used, run_queue, crowded_share| {
        let mut case = case(turns(5_000_000, 800_000), 1);
        let vm = case.vm.as_mut().unwrap();
        (vm.schedulers_online, vm.run_queue) = (2, run_queue);
        (vm.scheduler_use, vm.crowded_share) = (Some(used), crowded_share);
        case
    };
    check(&on_a_node(0.5, 1.0, 0.2), LimitKind::Publishers, CLIENT, Certainty::Certain);
    check(&on_a_node(0.8, 2.0, 0.6), LimitKind::Publishers, CLIENT, Certainty::Likely);
    check(&on_a_node(0.92, 98.0, 0.9), LimitKind::Schedulers, "", Certainty::Likely);
    // Processes that wait now and then.
    check(&on_a_node(0.92, 98.0, 0.5), LimitKind::Publishers, CLIENT, Certainty::Likely);
}

#[test]
fn a_slow_clock_is_no_limit() {
    check(&case(turns(400_000, 20_000_000), 0), LimitKind::Nothing, "", Certainty::Certain);
    // A fast client could be one that waits: it looks the same.
    check(&case(turns(200_000, 3_000_000), 1), LimitKind::Nothing, "", Certainty::Likely);
}

/// Each confirm lets a publisher with a full window publish one more.
#[test]
fn a_full_window_takes_turns_too() {
    check(&case(turns(300_000, 200_000), 200), LimitKind::Nothing, "", Certainty::Certain);
    let mut known = turns(300_000, 200_000);
    known.messages.max_unconfirmed = 500;
    check(&case(known, 0), LimitKind::Nothing, "", Certainty::Certain);
}

/// A broker without statistics does not know its channels' unconfirmed messages.
#[test]
fn strict_turns_do_without_statistics() {
    let without = |change: fn(&mut MessageFigures)| {
        let mut connection = turns(300_000, 200_000);
        change(&mut connection.messages);
        let mut case = case(connection, 0);
        case.clients.as_mut().unwrap().channels.clear();
        case
    };
    check(&without(|_| ()), LimitKind::Publishers, CLIENT, Certainty::Certain);
    let several = without(|messages| messages.multiple_confirms = 9);
    check(&several, LimitKind::Publishers, CLIENT, Certainty::Uncertain);
    let loose = without(|messages| messages.turns -= messages.turns / 20);
    check(&loose, LimitKind::Publishers, CLIENT, Certainty::Uncertain);
}

#[test]
fn publishes_without_turns_are_not_one_by_one() {
    let mut connection = turns(300_000, 200_000);
    connection.messages.turns /= 2;
    check(&case(connection, 1), LimitKind::Nothing, "", Certainty::Certain);
    let mut few = turns(300_000, 200_000);
    (few.messages.published, few.messages.turns) = (40, 39);
    check(&case(few, 1), LimitKind::Nothing, "", Certainty::Certain);
    // A second client publishes more.
    let mut others = case(turns(300_000, 200_000), 1);
    let mut fast = turns(300_000, 200_000);
    (fast.client, fast.messages.published) = ("127.0.0.1:50000".to_owned(), 90_000);
    others.packets.as_mut().unwrap().connections.push(fast);
    check(&others, LimitKind::Nothing, "", Certainty::Certain);
}

/// A report of an earlier version has latencies alone. One without a count is no latency.
#[test]
fn without_turns_the_latency_of_confirms_counts() {
    let latency = |kind, mean, count| LatencyReport {
        kind,
        mean,
        min: 1,
        percentiles: Percentiles { count, ..Percentiles::default() },
        unmatched: Unmatched::default(),
    };
    let connection = |mean: f64| {
        let mut connection = turns(3_000_000, 1_000_000);
        connection.messages.turns = 0;
        connection.messages.max_unconfirmed = 1;
        let unknown = latency(LatencyKind::PublishToConfirm, 0.0, 0);
        connection.latencies =
            vec![unknown, latency(LatencyKind::PublishToConfirmAtLeast, mean, 3_000)];
        connection
    };
    check(&case(connection(3.5e6), 1), LimitKind::Publishers, CLIENT, Certainty::Certain);
    check(&case(connection(0.3e6), 1), LimitKind::Nothing, "", Certainty::Likely);
}

/// Pauses of a node without CPU time look like delayed acknowledgements.
#[test]
fn delayed_acknowledgements_limit_a_client_of_a_node_with_cpu_time() {
    let mut connection = turns(3_000_000, 500_000);
    connection.messages = MessageFigures::default();
    connection.from_client.delayed_ack_stalls = 200;
    connection.from_client.delayed_ack_nanos = 12_000_000_000;
    let mut case = case(connection, 0);
    check(&case, LimitKind::Publishers, CLIENT, Certainty::Certain);
    case.host.as_mut().unwrap().throttled_periods = Some(0.4);
    assert_ne!(found(&case).kind, LimitKind::Publishers);
}

/// A node whose publisher waits for answers, for this share of its time, with these messages of 10,000.
fn waiting(answer: Answer, messages: u64, waiting: f64) -> Case {
    let window = Some(200);
    let one = WaitingPublisher { client: CLIENT.to_owned(), messages, answer, window, waiting };
    let turns = Turns { published: 10_000, publishers: vec![one], ..Turns::default() };
    Case { turns: Some(turns), ..healthy() }
}

#[test]
fn publishers_that_wait_are_named_if_nothing_else_is() {
    let texts = [
        (Answer::Confirm, "message when a confirm comes (at most 200 without one), and not before"),
        (Answer::Commit, "messages when their transaction is committed, and not before"),
        (Answer::Reply, "request when a reply comes, and not before"),
    ];
    for (answer, text) in texts {
        let case = waiting(answer, 9_000, 0.8);
        check(&case, LimitKind::Publishers, CLIENT, Certainty::Uncertain);
        let limit = found(&case);
        assert!(limit.sentence.ends_with(text), "{limit:#?}");
        let figure = "9000 of 10000 messages; waiting takes 80 % of the time between them";
        assert_eq!(limit.evidence[0].figure, figure);
    }
    // A relay publishes each message again.
    check(
        &waiting(Answer::Confirm, 4_999, 0.8),
        LimitKind::Publishers,
        CLIENT,
        Certainty::Uncertain,
    );
    let mut busy = waiting(Answer::Confirm, 9_000, 0.8);
    busy.cpu.as_mut().unwrap().processes = vec![process("<0.5.0>", "queue", 0.92)];
    check(&busy, LimitKind::Process, "queue orders", Certainty::Likely);
}

#[test]
fn few_waiting_publishers_and_those_with_work_of_their_own_are_no_limit() {
    for case in [
        waiting(Answer::Confirm, 3_900, 0.8),
        waiting(Answer::Confirm, 9_000, 0.1),
        Case { turns: Some(Turns { published: 40, ..Turns::default() }), ..healthy() },
    ] {
        check(&case, LimitKind::Nothing, "", Certainty::Certain);
    }
}

/// Nothing shows that they wait, and nothing that they do not.
#[test]
fn publishers_that_perhaps_wait_leave_a_doubt() {
    let perhaps = |perhaps| Turns { published: 10_000, perhaps, ..Turns::default() };
    let case = |messages| Case { turns: Some(perhaps(messages)), ..healthy() };
    check(&case(9_000), LimitKind::Nothing, "", Certainty::Likely);
    check(&case(3_900), LimitKind::Nothing, "", Certainty::Certain);
    let limit = found(&case(9_000));
    assert_eq!(limit.runner_up.unwrap().evidence[0].figure, "9000 of 10000 messages");
}

/// TLS hides the messages. The statistics of the channels tell how many are unconfirmed.
#[test]
fn hidden_messages_are_a_doubt() {
    let hidden = |unconfirmed, is_confirming| {
        let mut case = healthy();
        case.packets.as_mut().unwrap().capture = Some(CaptureReport::default());
        let published_per_second = Some(900.0);
        let channel = ChannelCase {
            unconfirmed,
            is_confirming,
            published_per_second,
            ..ChannelCase::default()
        };
        case.clients.as_mut().unwrap().channels = vec![channel];
        case
    };
    check(&hidden(1, true), LimitKind::Nothing, "", Certainty::Uncertain);
    check(&hidden(0, false), LimitKind::Nothing, "", Certainty::Likely);
    check(&hidden(90, true), LimitKind::Nothing, "", Certainty::Likely);
    let mut seen = hidden(1, true);
    seen.turns = Some(Turns { seconds: 10.0, published: 5_000, ..Turns::default() });
    check(&seen, LimitKind::Nothing, "", Certainty::Certain);
}

/// The packets of a channel that is older than the capture show turns, and its answers show that more messages are out.
#[test]
fn a_known_window_is_not_one_by_one() {
    let mut case = case(turns(300_000, 0), 1);
    case.turns = waiting(Answer::Confirm, 9_000, 0.9).turns;
    check(&case, LimitKind::Publishers, CLIENT, Certainty::Uncertain);
    assert!(found(&case).sentence.contains("at most 200 without one"));
}

/// A clock that is slower than the confirms takes turns with them. Its messages do not follow them.
#[test]
fn a_publisher_whose_messages_do_not_follow_confirms_is_no_limit() {
    let mut clock = case(turns(300_000, 200_000), 1);
    clock.turns = Some(Turns { published: 30_000, ..Turns::default() });
    check(&clock, LimitKind::Nothing, "", Certainty::Likely);
    let mut one = waiting(Answer::Confirm, 30_000, 0.6).turns.unwrap();
    (one.publishers[0].window, one.published) = (Some(1), 30_000);
    clock.turns = Some(one);
    check(&clock, LimitKind::Publishers, CLIENT, Certainty::Certain);
}
