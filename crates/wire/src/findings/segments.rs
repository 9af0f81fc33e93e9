//! How messages are put into segments.

use super::{
    advice,
    hit::{Case, Direction, directions, share},
};
use crate::report::{DirectionReport, PacketReport, Severity, Side};

/// Share of the publishes above which a client is said to send frame by frame.
const FRAME_BY_FRAME_SHARE: f64 = 0.5;
/// Segments a second below which it does not matter how full they are.
const MIN_SEGMENT_RATE: f64 = 1_000.0;
/// RabbitMQ's writer flushes when it has collected so much (`rabbit_writer`): smaller segments of a path with
/// room for more are small.
const WRITER_FLUSH_BYTES: u64 = 1_414;
/// An Ethernet's segment without and with jumbo frames; what announces more is a loopback.
const MAX_ETHERNET_SEGMENT: u16 = 9_000;
/// The segment of an Ethernet without options, where the SYN was not seen.
const USUAL_SEGMENT: u64 = 1_460;
/// Share of acknowledgements for one message above which all are said to be.
const SINGLE_ACK_SHARE: f64 = 0.9;
/// Share of the requests for a message above which a client is said to poll.
const EMPTY_SHARE: f64 = 0.5;

/// Publishes whose method, header and body begin a segment each.
pub(super) fn frame_by_frame(report: &PacketReport) -> Vec<Case> {
    let case = |it: Direction<'_>| {
        let messages = &it.connection.messages;
        let parts = share(messages.frame_by_frame, messages.published);
        let rate = it.rate(messages.publish_segments);
        let is_shown = parts >= FRAME_BY_FRAME_SHARE && rate >= MIN_SEGMENT_RATE;
        let hit = is_shown.then(|| {
            let evidence = format!(
                "{:.0} % of {} publishes, {:.1} segments for each, {rate:.0} segments a second",
                100.0 * parts,
                messages.published,
                messages.publish_segments as f64 / messages.published as f64,
            );
            let weight = messages.frame_by_frame as f64;
            let hit = it.hit(Severity::Warning, weight, evidence, advice::FRAME_BY_FRAME);
            hit.with_packets(&messages.frame_by_frame_packets)
        });
        it.case(messages.publish_segments, hit)
    };
    let is_publisher =
        |it: &Direction<'_>| it.from == Side::Client && it.connection.messages.published > 0;
    directions(report).filter(is_publisher).map(case).collect()
}

/// Segments that are small although the path has room, and many.
pub(super) fn small_packets(report: &PacketReport) -> Vec<Case> {
    let case = |it: Direction<'_>| {
        let rate = it.rate(it.figures.data_segments);
        let small = small_below(it.figures);
        let median = it.figures.median_payload;
        let hit = (median > 0 && median < small && rate >= MIN_SEGMENT_RATE).then(|| {
            let evidence = format!(
                "half of the segments from {} have at most {median} bytes (small is below {small}), {rate:.0} a second",
                it.sender(),
            );
            let advice = match it.from {
                Side::Client => advice::SMALL_FROM_CLIENT,
                Side::Broker => advice::SMALL_FROM_BROKER,
            };
            it.hit(Severity::Note, rate, evidence, advice)
        });
        it.case(it.figures.data_segments, hit)
    };
    directions(report).map(case).collect()
}

/// Payload below which a segment is small: a quarter of what an Ethernet takes, or what the broker's writer
/// collects where the path takes 64 KiB.
fn small_below(direction: &DirectionReport) -> u64 {
    match direction.max_segment_size {
        Some(size) if size > MAX_ETHERNET_SEGMENT => WRITER_FLUSH_BYTES,
        Some(size) => u64::from(size) / 4,
        None if direction.max_payload > u64::from(MAX_ETHERNET_SEGMENT) => WRITER_FLUSH_BYTES,
        None => USUAL_SEGMENT / 4,
    }
}

/// Acknowledgements for one message each, one to a segment.
pub(super) fn ack_per_message(report: &PacketReport) -> Vec<Case> {
    let case = |it: Direction<'_>| {
        let messages = &it.connection.messages;
        let single =
            share(messages.acks - messages.multiple_acks.min(messages.acks), messages.acks);
        let to_a_segment = messages.acks as f64 / messages.ack_segments.max(1) as f64;
        let hit = (single >= SINGLE_ACK_SHARE && to_a_segment < 1.5).then(|| {
            let evidence = format!(
                "{:.0} % of {} acknowledgements are for one message, {to_a_segment:.2} to a segment",
                100.0 * single,
                messages.acks,
            );
            let hit =
                it.hit(Severity::Note, messages.acks as f64, evidence, advice::ACK_PER_MESSAGE);
            hit.with_packets(&messages.lone_ack_packets)
        });
        it.case(messages.acks, hit)
    };
    let is_consumer =
        |it: &Direction<'_>| it.from == Side::Client && it.connection.messages.acks > 0;
    directions(report).filter(is_consumer).map(case).collect()
}

/// Requests for single messages that mostly find none.
pub(super) fn polling(report: &PacketReport) -> Vec<Case> {
    let case = |it: Direction<'_>| {
        let frames = |kind: &str| {
            let of = it.connection.frames.iter().filter(|count| count.kind == kind);
            of.map(|count| count.frames).sum::<u64>()
        };
        let (empty, asked) = (frames("basic.get-empty"), frames("basic.get"));
        let hit = (share(empty, asked) >= EMPTY_SHARE).then(|| {
            let evidence = format!(
                "{empty} of {asked} requests found no message, {:.0} a second",
                it.rate(asked)
            );
            it.hit(Severity::Note, empty as f64, evidence, advice::POLLING)
        });
        it.case(asked, hit)
    };
    let cases = directions(report).filter(|it| it.from == Side::Client).map(case);
    cases.filter(|case| case.count > 0).collect()
}
