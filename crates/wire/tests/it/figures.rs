//! Figures of connections about sender, receiver and path.

use std::time::Duration;

use rabbitscope_wire::tcp::{Direction, Limits, SenderState, WindowScale};

use crate::talk::{RST, Sent, Talk};

/// Returns an acknowledgement by the broker.
fn acknowledgement(place: u32, window: u16) -> Sent<'static> {
    Sent { sequence: 5000, acknowledgement: Some(1000 + place), window, ..Sent::default() }
}

const fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

#[test]
fn packets_of_each_kind_are_counted() {
    let mut talk = Talk::opened(Limits::default(), Some(7));
    talk.client(Sent::payload(1000, &[1; 100]));
    talk.client(Sent::payload(1100, &[1; 50]));
    talk.client(Sent::payload(1000, &[1; 150]));
    talk.client(Sent::payload(1200, &[1; 10]));
    talk.client(Sent::payload(1150, &[1; 50]));
    talk.broker(acknowledgement(210, 10));
    talk.broker(Sent { sequence: 5000, flags: RST, ..Sent::default() });
    let summary = talk.finish().summaries.pop().unwrap().1;
    let forward = summary.forward;
    assert_eq!((forward.packets, forward.pure_acknowledgements, forward.data_segments), (7, 1, 5));
    assert_eq!((forward.data_bytes, forward.unique_bytes), (360, 210));
    assert_eq!((forward.retransmitted_segments, forward.retransmitted_bytes), (1, 150));
    assert_eq!((forward.out_of_order_segments, forward.largest_segment_bytes), (1, 150));
    assert_eq!((forward.max_bytes_in_flight, forward.max_segment_size), (210, Some(1460)));
    assert_eq!(forward.packet_bytes, 7 * 54 + 360);
    assert_eq!(forward.packet_sizes.0[..5], [0, 0, 3, 3, 1]);
    assert_eq!(forward.syn_round_trip, Some(millis(1)));
    let reverse = summary.reverse;
    assert_eq!((reverse.packets, reverse.pure_acknowledgements), (3, 1));
    assert_eq!((reverse.window_scale, reverse.max_window_bytes), (WindowScale::Agreed(7), 65_535));
    assert!(reverse.reset.is_some() && forward.reset.is_none());
}

#[test]
fn round_trips_are_those_of_segments_that_were_sent_once() {
    let mut talk = Talk::opened(Limits::default(), None);
    talk.client(Sent::payload(1000, &[1; 10]));
    talk.client(Sent::payload(1010, &[1; 10]));
    talk.broker(acknowledgement(20, 9));
    talk.client(Sent::payload(1020, &[1; 10]));
    talk.client(Sent::payload(1020, &[1; 10]));
    talk.broker(acknowledgement(30, 9));
    talk.client(Sent::payload(1030, &[1; 10]));
    talk.millis += 6;
    talk.broker(acknowledgement(40, 9));
    let seen = talk.finish();
    let [forward, reverse] = [Direction::Forward, Direction::Reverse];
    let expected = [(forward, millis(1)), (reverse, millis(1)), (forward, millis(1))];
    assert_eq!(seen.round_trips[..3], expected);
    assert_eq!(seen.round_trips[3..], [(forward, millis(7))]);
    let figures = seen.summaries[0].1.forward.round_trips;
    assert_eq!((figures.count, figures.mean()), (3, Some(millis(3))));
    assert_eq!((figures.shortest, figures.longest), (millis(1), millis(7)));
}

/// Sends `bytes` bytes and has them acknowledged, `count` times.
fn flights(talk: &mut Talk, count: u32, bytes: u32, window: u16) {
    let payload = vec![0; bytes as usize];
    let first = u32::try_from(talk.seen.bytes.first().map_or(0, |sides| sides[0].end)).unwrap();
    for flight in 0..count {
        let place = first + flight * bytes;
        talk.client(Sent::payload(1000 + place, &payload));
        talk.broker(acknowledgement(place + bytes, window));
    }
}

#[test]
fn the_receiver_limits_who_fills_its_window() {
    let mut talk = Talk::opened(Limits::default(), Some(0));
    // From packet 4 on, at 4 ms. The window is 65,535, three segments are 4,380 bytes.
    flights(&mut talk, 5, 61_155, 65_535);
    flights(&mut talk, 2, 61_154, 65_535);
    flights(&mut talk, 2, 61_155, 65_535);
    let seen = talk.finish();
    let limited: Vec<_> =
        seen.spans.iter().filter(|span| span.1 == SenderState::ReceiverLimited).collect();
    assert_eq!(limited, [&(Direction::Forward, SenderState::ReceiverLimited, 4, 13)]);
    let forward = &seen.summaries[0].1.forward;
    assert_eq!((forward.flights, forward.receiver_limited_flights), (9, 7));
    assert_eq!((forward.busy_time, forward.receiver_limited_time), (millis(9), Some(millis(5))));
    let busy = seen.spans.iter().filter(|span| span.1 == SenderState::Busy).count();
    assert_eq!(busy, 9);
}

#[test]
fn who_pauses_is_not_limited() {
    let mut talk = Talk::opened(Limits::default(), Some(0));
    for _ in 0..6 {
        flights(&mut talk, 2, 61_155, 65_535);
        talk.millis += 5;
    }
    let forward = talk.finish().summaries.pop().unwrap().1.forward;
    assert_eq!((forward.receiver_limited_flights, forward.flights), (12, 12));
    assert_eq!(forward.receiver_limited_time, Some(millis(0)));
}

/// Nothing is reported about a window of unknown scale, until a caller sets the scale.
#[test]
fn a_scale_may_come_from_elsewhere() {
    let mut talk = Talk::new(Limits::default());
    talk.client(Sent::payload(1000, &[0; 10]));
    talk.broker(acknowledgement(10, 1000));
    assert_eq!(talk.seen.segments[1].window_bytes, None);
    assert_eq!(talk.connections.summaries().next().unwrap().1.forward.receiver_limited_time, None);
    let (client, broker) = (talk.client, talk.broker);
    assert!(talk.connections.set_window_scale(broker, client, 3));
    assert!(!talk.connections.set_window_scale(broker, broker, 3));
    talk.client(Sent::payload(1010, &[0; 10]));
    talk.broker(acknowledgement(20, 1000));
    assert_eq!(talk.seen.segments[3].window_bytes, Some(8000));
    let summary = talk.finish().summaries.pop().unwrap().1;
    assert_eq!(summary.reverse.window_scale, WindowScale::Given(3));
    assert!(summary.forward.receiver_limited_time.is_some());
    // The scale in the SYNs takes precedence.
    let mut talk = Talk::opened(Limits::default(), Some(7));
    talk.connections.set_window_scale(talk.broker, talk.client, 3);
    let summary = talk.finish().summaries.pop().unwrap().1;
    assert_eq!(summary.reverse.window_scale, WindowScale::Agreed(7));
}

#[test]
fn times_without_a_window_have_their_packets() {
    let mut talk = Talk::opened(Limits::default(), Some(7));
    talk.client(Sent::payload(1000, &[0; 10]));
    talk.broker(acknowledgement(10, 0));
    talk.millis += 300;
    talk.broker(acknowledgement(10, 0));
    talk.broker(acknowledgement(10, 5));
    talk.broker(acknowledgement(10, 0));
    talk.broker(Sent { sequence: 5000, flags: RST, window: 0, ..Sent::default() });
    let seen = talk.finish();
    let [(direction, first), (_, last)] = seen.zero_windows[..] else { panic!("{seen:?}") };
    assert_eq!(
        (direction, first.first_packet, first.last_packet),
        (Direction::Forward, 5, Some(7))
    );
    assert_eq!(first.end.since(first.start), millis(302));
    assert_eq!((last.first_packet, last.last_packet), (8, None));
    let reverse = &seen.summaries[0].1.reverse;
    assert_eq!((reverse.zero_window_packets, reverse.zero_windows), (3, 2));
    assert_eq!(reverse.longest_zero_window, millis(302));
}

#[test]
fn a_small_segment_that_waits_for_an_acknowledgement_is_a_stall() {
    let mut talk = Talk::opened(Limits::default(), Some(7));
    for place in 0..3 {
        talk.client(Sent::payload(1000 + 100 * place, &[0; 100]));
        talk.millis += 39;
        talk.broker(acknowledgement(100 * place + 100, 9));
    }
    let seen = talk.finish();
    let packets: Vec<_> = seen
        .stalls
        .iter()
        .map(|(_, stall)| (stall.small_packet, stall.acknowledgement_packet, stall.next_packet))
        .collect();
    assert_eq!(packets, [(4, 5, 6), (6, 7, 8)]);
    let forward = &seen.summaries[0].1.forward;
    assert_eq!((forward.stalls, forward.stalled_time), (2, millis(80)));
}

#[test]
fn segments_are_traced_with_their_places() {
    let mut talk = Talk::opened(Limits::default(), Some(2));
    talk.client(Sent::payload(1000, &[0; 100]));
    talk.broker(acknowledgement(50, 1000));
    talk.client(Sent::payload(1050, &[0; 100]));
    let seen = talk.finish();
    let [first, acknowledgement, second] = &seen.segments[3..] else { panic!("{seen:?}") };
    assert_eq!((first.places.clone(), first.bytes_in_flight), (Some(0..100), Some(100)));
    assert_eq!(acknowledgement.acknowledged, Some(50));
    assert_eq!(
        (acknowledgement.places.clone(), acknowledgement.window_bytes),
        (Some(0..0), Some(4000))
    );
    assert_eq!((second.places.clone(), second.retransmitted_bytes), (Some(50..150), 50));
    assert_eq!((second.bytes_in_flight, second.packet), (Some(100), 6));
}
