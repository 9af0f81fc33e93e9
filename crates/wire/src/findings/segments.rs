//! Rules about the distribution of messages over segments.

use super::{
    advice,
    hit::{Case, Direction, directions, share},
};
use crate::report::{DirectionReport, PacketReport, Severity, Side};

/// Share of the publishes from which a client is reported to send frame by frame.
const FRAME_BY_FRAME_SHARE: f64 = 0.5;
/// Segments per second below which their fill does not matter.
const MIN_SEGMENT_RATE: f64 = 1_000.0;
/// Segments per second from which publishes frame by frame are a warning. Below it they are a habit of some client
/// libraries that costs a few percent of a core. Chosen.
const COSTLY_SEGMENT_RATE: f64 = 5_000.0;
/// Amount at which RabbitMQ's writer flushes (`rabbit_writer`). On a path with room for more, smaller segments count as
/// small.
const WRITER_FLUSH_BYTES: u64 = 1_414;
/// Largest segment of an Ethernet with jumbo frames. A larger announcement means a loopback.
const MAX_ETHERNET_SEGMENT: u16 = 9_000;
/// The segment of an Ethernet without options, for connections whose SYN was not seen.
const USUAL_SEGMENT: u64 = 1_460;
/// Share of single acknowledgements from which a client is reported to acknowledge each message alone.
const SINGLE_ACK_SHARE: f64 = 0.9;
/// Share of empty answers to `basic.get` from which a client is reported to poll.
const EMPTY_SHARE: f64 = 0.5;

/// Judges publishes whose method, header and body begin a segment each.
pub(super) fn frame_by_frame(report: &PacketReport) -> Vec<Case> {
    let case = |direction: Direction<'_>| {
        let messages = &direction.connection.messages;
        let parts = share(messages.frame_by_frame, messages.published);
        let rate = direction.rate(messages.publish_segments);
        let is_shown = parts >= FRAME_BY_FRAME_SHARE && rate >= MIN_SEGMENT_RATE;
        let hit = is_shown.then(|| {
            let evidence = format!(
                "{:.0} % of {} publishes, {:.1} segments for each, {rate:.0} segments a second",
                100.0 * parts,
                messages.published,
                messages.publish_segments as f64 / messages.published as f64,
            );
            let weight = messages.frame_by_frame as f64;
            let is_costly = rate >= COSTLY_SEGMENT_RATE;
            let severity = if is_costly { Severity::Warning } else { Severity::Note };
            let hit = direction.hit(severity, weight, evidence, advice::FRAME_BY_FRAME);
            hit.with_packets(&messages.frame_by_frame_packets)
        });
        direction.case(messages.publish_segments, hit)
    };
    let is_publisher = |direction: &Direction<'_>| {
        direction.from == Side::Client && direction.connection.messages.published > 0
    };
    directions(report).filter(is_publisher).map(case).collect()
}

/// Judges segments that are many, and small although the path has room.
pub(super) fn small_packets(report: &PacketReport) -> Vec<Case> {
    let case = |direction: Direction<'_>| {
        let rate = direction.rate(direction.figures.data_segments);
        let small = small_below(direction.figures);
        let median = direction.figures.median_payload;
        let hit = (median > 0 && median < small && rate >= MIN_SEGMENT_RATE).then(|| {
            let evidence = format!(
                "half of the segments from {} have at most {median} bytes (small is below {small}), {rate:.0} a second",
                direction.sender(),
            );
            let advice = match direction.from {
                Side::Client => advice::SMALL_FROM_CLIENT,
                Side::Broker => advice::SMALL_FROM_BROKER,
            };
            direction.hit(Severity::Note, rate, evidence, advice)
        });
        direction.case(direction.figures.data_segments, hit)
    };
    directions(report).map(case).collect()
}

/// Returns the payload below which a segment is small: a quarter of the announced segment size. On a path of 64 KiB it
/// is the amount at which the broker's writer flushes.
fn small_below(direction: &DirectionReport) -> u64 {
    match direction.max_segment_size {
        Some(size) if size > MAX_ETHERNET_SEGMENT => WRITER_FLUSH_BYTES,
        Some(size) => u64::from(size) / 4,
        None if direction.max_payload > u64::from(MAX_ETHERNET_SEGMENT) => WRITER_FLUSH_BYTES,
        None => USUAL_SEGMENT / 4,
    }
}

/// Judges acknowledgements for one message each, one to a segment.
pub(super) fn ack_per_message(report: &PacketReport) -> Vec<Case> {
    let case = |direction: Direction<'_>| {
        let messages = &direction.connection.messages;
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
                direction.hit(Severity::Note, messages.acks as f64, evidence, advice::ACK_PER_MESSAGE);
            hit.with_packets(&messages.lone_ack_packets)
        });
        direction.case(messages.acks, hit)
    };
    let is_consumer = |direction: &Direction<'_>| {
        direction.from == Side::Client && direction.connection.messages.acks > 0
    };
    directions(report).filter(is_consumer).map(case).collect()
}

/// Judges requests for single messages that mostly find none.
pub(super) fn polling(report: &PacketReport) -> Vec<Case> {
    let case = |direction: Direction<'_>| {
        let frames = |kind: &str| {
            let of = direction.connection.frames.iter().filter(|count| count.kind == kind);
            of.map(|count| count.frames).sum::<u64>()
        };
        let (empty, asked) = (frames("basic.get-empty"), frames("basic.get"));
        let hit = (share(empty, asked) >= EMPTY_SHARE).then(|| {
            let evidence = format!(
                "{empty} of {asked} requests found no message, {:.0} a second",
                direction.rate(asked)
            );
            direction.hit(Severity::Note, empty as f64, evidence, advice::POLLING)
        });
        direction.case(asked, hit)
    };
    let cases = directions(report).filter(|direction| direction.from == Side::Client).map(case);
    cases.filter(|case| case.count > 0).collect()
}
