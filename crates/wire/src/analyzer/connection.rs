//! State of a current connection: its frames, messages, latencies and pictures.

use std::time::Duration;

use super::{
    busiest::EndedConnection,
    events::{Life, Seen},
    frames::FrameCounts,
    ladder::LadderRecorder,
    latencies::LatencyHistograms,
    messages::Messages,
    payloads::Payloads,
    redaction::SensitiveRanges,
    trace::{TraceRecorder, Trigger},
};
use crate::{
    activity::ActivityReader,
    exchanges::{Exchanges, Latency, Replies},
    packet::Timestamp,
    protocols::{Conversation, Frame, peer_of},
    report::{ConnectionReport, DirectionReport, LatencyKind, LimitShares, RoundTrips, Side},
    tcp::{
        ConnectionEnd, ConnectionSummary, Direction, DirectionFigures, Stall, TracedSegment,
        ZeroWindow,
    },
};

/// Number of packets kept as examples of each kind of event.
const EXAMPLES: usize = 10;

/// State of a direction beyond that in `tcp`.
#[derive(Clone, Debug, Default)]
pub(super) struct DirectionState {
    payloads: Payloads,
    zero_window_packets: Vec<u64>,
    stall_packets: Vec<u64>,
    trace: Option<Box<TraceRecorder>>,
}

impl DirectionState {
    /// Records that the receiver of this direction accepted nothing.
    pub(super) fn zero_window(&mut self, of: ZeroWindow) {
        let packets = [Some(of.first_packet), of.last_packet].into_iter().flatten();
        let room = EXAMPLES.saturating_sub(self.zero_window_packets.len());
        self.zero_window_packets.extend(packets.take(room));
    }

    pub(super) fn stall(&mut self, stall: Stall) {
        let packets = [stall.small_packet, stall.acknowledgement_packet, stall.next_packet];
        let room = EXAMPLES.saturating_sub(self.stall_packets.len());
        self.stall_packets.extend(packets.into_iter().take(room));
    }

    /// Records an event that is worth a picture.
    pub(super) fn trigger(&mut self, trigger: Trigger) {
        if let Some(trace) = &mut self.trace {
            trace.trigger(trigger);
        }
    }
}

/// State that a connection's frames build.
#[derive(Debug)]
pub(super) struct Reading {
    frames: FrameCounts,
    pub(super) messages: Messages,
    pub(super) exchanges: Exchanges,
    latencies: LatencyHistograms,
    ladder: Option<Box<LadderRecorder>>,
    pub(super) life: Life,
    /// Frames of the current segment, by sender.
    traced: [Option<TracedFrames>; 2],
}

/// The frames that ended in the current segment.
#[derive(Clone, Copy, Debug, Default)]
struct TracedFrames {
    name: &'static str,
    count: u32,
}

impl TracedFrames {
    /// Adds a frame. Names of methods say more than `header` and `body`.
    fn add(&mut self, kind: &'static str) {
        let is_method = |kind: &str| kind.contains('.');
        if self.count == 0 || is_method(kind) && !is_method(self.name) {
            self.name = kind;
        }
        self.count += 1;
    }
}

impl Reading {
    /// Processes a frame. Latencies that it ends also go to `each`. Returns the event that the frame reports, if any.
    pub(super) fn frame(
        &mut self,
        frame: &Frame<'_>,
        replies: &mut Replies,
        each: &mut impl FnMut(&Latency),
    ) -> Option<Seen> {
        let Self { frames, messages, exchanges, latencies, ladder, life, traced } = self;
        frames.add(frame);
        messages.frame(frame);
        if let Some(traced) = &mut traced[frame.sender as usize] {
            traced.add(frame.kind);
        }
        if let Some(ladder) = ladder {
            ladder.frame(frame);
        }
        exchanges.frame(frame, replies, &mut |latency| {
            latencies.add(kind_of(latency), latency.nanos);
            if let Some(ladder) = ladder {
                ladder.answer(latency.last_packet, peer_of(latency.from), latency.nanos);
            }
            each(latency);
        });
        life.frame(frame)
    }
}

/// Returns the kind of a latency. Requests and replies are seen from both sides; the responder's time is a kind of its
/// own.
pub(super) const fn kind_of(latency: &Latency) -> LatencyKind {
    match (latency.kind, latency.from) {
        (LatencyKind::RequestToReply, Side::Broker) => LatencyKind::ServiceTime,
        (kind, _) => kind,
    }
}

/// Parts of a connection that are used together.
pub(super) struct Parts<'a> {
    pub(super) ends: &'a [String; 2],
    pub(super) number: u64,
    pub(super) conversation: &'a mut Conversation,
    pub(super) reading: &'a mut Reading,
    pub(super) sensitive: &'a mut [SensitiveRanges; 2],
    pub(super) activity: Option<&'a mut ActivityReader>,
}

/// A current connection.
#[derive(Debug)]
pub(super) struct ConnectionState {
    /// The side that opened it, according to `tcp`.
    opener: Side,
    /// The client's end, and the broker's.
    ends: [String; 2],
    pub(super) number: u64,
    pub(super) conversation: Conversation,
    pub(super) reading: Reading,
    pub(super) sensitive: [SensitiveRanges; 2],
    activity: Option<Box<ActivityReader>>,
    /// The client's direction, and the broker's.
    directions: [DirectionState; 2],
}

impl ConnectionState {
    pub(super) fn new(number: u64, opener: Side, ends: [String; 2], is_pictured: bool) -> Self {
        let direction = || DirectionState {
            trace: is_pictured.then(|| Box::new(TraceRecorder::new())),
            ..DirectionState::default()
        };
        Self {
            opener,
            ends,
            number,
            conversation: Conversation::default(),
            reading: Reading {
                frames: FrameCounts::default(),
                messages: Messages::default(),
                exchanges: Exchanges::new(number),
                latencies: LatencyHistograms::new(LatencyHistograms::OF_ONE),
                ladder: is_pictured.then(Box::default),
                life: Life::default(),
                traced: [is_pictured.then(TracedFrames::default); 2],
            },
            sensitive: <[SensitiveRanges; 2]>::default(),
            activity: None,
            directions: [direction(), direction()],
        }
    }

    /// Reads the activity, too. Call it before the first bytes.
    pub(super) fn read_activity(&mut self) {
        self.conversation.keep_arguments();
        self.activity = Some(Box::default());
    }

    /// Returns the side that sends in a direction.
    pub(super) const fn sender(&self, direction: Direction) -> Side {
        match direction {
            Direction::Forward => self.opener,
            Direction::Reverse => peer_of(self.opener),
        }
    }

    pub(super) const fn direction(&mut self, sender: Side) -> &mut DirectionState {
        &mut self.directions[sender as usize]
    }

    /// Records a segment, after the frames that ended in it.
    pub(super) fn segment(&mut self, sender: Side, segment: &TracedSegment) {
        let direction = &mut self.directions[sender as usize];
        if let Some(places) = &segment.places
            && !places.is_empty()
        {
            direction.payloads.add(u32::try_from(places.end - places.start).unwrap_or(u32::MAX));
        }
        self.reading.life.segment(sender, segment);
        let Some(traced) = &mut self.reading.traced[sender as usize] else { return };
        let TracedFrames { name, count } = std::mem::take(traced);
        if let Some(trace) = &mut direction.trace {
            trace.segment(segment, name, count);
        }
        if let Some(trace) = &mut self.directions[peer_of(sender) as usize].trace {
            trace.acknowledgement(segment);
        }
    }

    /// Returns the name in findings.
    pub(super) fn label(ends: &[String; 2]) -> String {
        format!("{} -> {}", ends[0], ends[1])
    }

    /// Returns the ends and the state of the frames at once.
    pub(super) fn parts(&mut self) -> Parts<'_> {
        let Self { ends, number, conversation, reading, sensitive, activity, .. } = self;
        let activity = activity.as_deref_mut();
        Parts { ends, number: *number, conversation, reading, sensitive, activity }
    }

    /// Returns the events that only the connection's end shows. `now` is the time of the capture's last packet.
    pub(super) fn last_events(&mut self, summary: &ConnectionSummary, now: Timestamp) -> Vec<Seen> {
        let (forward, reverse) = (&summary.forward, &summary.reverse);
        let directions = match self.opener {
            Side::Client => [forward, reverse],
            Side::Broker => [reverse, forward],
        };
        let messages = self.reading.messages.count();
        self.reading.life.end(directions, summary, messages, now)
    }

    /// Returns the results at the connection's end.
    pub(super) fn end(self, summary: &ConnectionSummary) -> EndedConnection {
        let skipped = |side| self.conversation.direction(side).skipped_bytes();
        let unread_bytes = skipped(Side::Client) + skipped(Side::Broker);
        let report = self.report(summary);
        let [client, broker] = self.directions;
        EndedConnection {
            report,
            unread_bytes,
            ladder: self.reading.ladder,
            traces: [client.trace, broker.trace],
        }
    }

    fn report(&self, summary: &ConnectionSummary) -> ConnectionReport {
        let (from_client, from_broker) = match self.opener {
            Side::Client => (&summary.forward, &summary.reverse),
            Side::Broker => (&summary.reverse, &summary.forward),
        };
        let [client, broker] = &self.directions;
        let time = summary.last.since(summary.first);
        let Reading { frames, messages, exchanges, latencies, .. } = &self.reading;
        let mut latencies = latencies.clone();
        for kind in [LatencyKind::PublishToConfirm, LatencyKind::DeliverToAck, LatencyKind::Method]
        {
            latencies.add_unmatched(kind, exchanges.unmatched(kind));
        }
        let mut messages = messages.report();
        messages.max_unconfirmed = exchanges.most_unconfirmed();
        messages.max_unacknowledged = exchanges.most_unacknowledged();
        let turns = exchanges.turns();
        messages.turns = turns.count;
        messages.turn_wait_nanos = turns.wait_nanos;
        messages.turn_pause_nanos = turns.pause_nanos;
        ConnectionReport {
            client: self.ends[0].clone(),
            broker: self.ends[1].clone(),
            protocol: self
                .conversation
                .protocol()
                .map_or_else(String::new, |protocol| protocol.name().to_owned()),
            from_the_start: summary.endpoints.opener_is_known,
            first: summary.first,
            last: summary.last,
            ended: ended(summary).to_owned(),
            // `figures` count a zero window in the direction of the end that advertises it, `state` in the direction
            // that it stops.
            from_client: direction(from_client, client, (from_broker, broker), time),
            from_broker: direction(from_broker, broker, (from_client, client), time),
            messages,
            frames: frames.report(),
            latencies: latencies.report(),
            channels: exchanges.channels(),
            kernel_round_trip_nanos: None,
        }
    }
}

/// Returns whether an end reset the connection.
pub(super) const fn is_reset(summary: &ConnectionSummary) -> bool {
    summary.forward.reset.is_some() || summary.reverse.reset.is_some()
}

fn ended(summary: &ConnectionSummary) -> &'static str {
    match summary.end {
        _ if is_reset(summary) => "reset",
        _ if summary.is_closed() => "closed",
        ConnectionEnd::Replaced => "replaced by another one of the same ends",
        ConnectionEnd::Evicted => "forgotten: too many connections",
        ConnectionEnd::Open | ConnectionEnd::Captured => "",
    }
}

/// Builds the report of a direction. `time` is the time for which the connection was seen.
fn direction(
    figures: &DirectionFigures,
    state: &DirectionState,
    (receiver, receiver_state): (&DirectionFigures, &DirectionState),
    time: Duration,
) -> DirectionReport {
    DirectionReport {
        segments: figures.packets,
        data_segments: figures.data_segments,
        pure_acks: figures.pure_acknowledgements,
        payload_bytes: figures.data_bytes,
        unique_bytes: figures.unique_bytes,
        retransmitted_segments: figures.retransmitted_segments,
        retransmitted_bytes: figures.retransmitted_bytes,
        missing_segments: figures.missing_segments(),
        out_of_order: figures.out_of_order_segments,
        median_payload: state.payloads.median(),
        max_payload: u64::from(figures.largest_segment_bytes),
        // The receiver sets the limit of the sender's segments.
        max_segment_size: receiver.max_segment_size,
        window_scale_known: figures.window_scale.shift().is_some(),
        zero_windows: figures.zero_window_packets,
        zero_window_nanos: nanos(figures.zero_window_time),
        longest_zero_window_nanos: nanos(figures.longest_zero_window),
        zero_window_packets: receiver_state.zero_window_packets.clone(),
        max_in_flight: figures.max_bytes_in_flight,
        max_window: receiver.window_scale.shift().map(|_| receiver.max_window_bytes),
        round_trips: RoundTrips {
            count: figures.round_trips.count,
            min: nanos(figures.round_trips.shortest),
            mean: figures.round_trips.mean().map_or(0, nanos),
            max: nanos(figures.round_trips.longest),
        },
        limits: limits(figures, time),
        delayed_ack_stalls: figures.stalls,
        delayed_ack_nanos: nanos(figures.stalled_time),
        delayed_ack_packets: state.stall_packets.clone(),
    }
}

fn limits(figures: &DirectionFigures, time: Duration) -> LimitShares {
    if time.is_zero() {
        return LimitShares::default();
    }
    let share = |part: Duration| part.div_duration_f64(time).min(1.0);
    let busy = share(figures.busy_time);
    LimitShares {
        busy,
        receiver_window: figures.receiver_limited_time.map_or(0.0, share),
        idle: 1.0 - busy,
    }
}

fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
