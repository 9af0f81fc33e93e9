//! Events of `tcp` and of the dissectors, assigned to their connections.

use rustc_hash::FxHashMap;

use super::{
    busiest::{Busiest, EndedConnection},
    connection::{ConnectionState, Parts, Reading, is_reset, kind_of},
    events::EventLog,
    frames::FrameCounts,
    latencies::LatencyHistograms,
    options::AnalyzerOptions,
    redaction::{Redaction, SensitiveRanges},
    trace::Trigger,
};
use crate::{
    activity::{ActivityListener, ActivityReader, Ends},
    exchanges::{Latency, Replies},
    packet::Timestamp,
    protocols::{Conversation, Frame, FrameSink, Loss, Sensitive, Skipped},
    report::{LatencyKind, LeftOut, Side, Totals},
    segment::Segment,
    stream::{Chunk, Gap},
    tcp::{
        ConnectionId, ConnectionSummary, Direction, Endpoints, Stall, TcpObserver, TracedSegment,
        ZeroWindow,
    },
};

/// Maximum of connections with pictures; each takes some 70 kB.
const MAX_PICTURED: u64 = 128;

/// All connections together, and each current one.
#[derive(Debug)]
pub(super) struct Observation<L> {
    pub(super) options: AnalyzerOptions,
    /// Current connections. Their numbers are ours, so no peer can choose them to collide.
    connections: FxHashMap<ConnectionId, Box<ConnectionState>>,
    pub(super) ended: Busiest,
    pub(super) totals: Totals,
    pub(super) left_out: LeftOut,
    pub(super) frames: FrameCounts,
    pub(super) latencies: LatencyHistograms,
    replies: Replies,
    pub(super) redaction: Option<Redaction>,
    pub(super) events: EventLog,
    /// Time of the current packet.
    now: Timestamp,
    last: Timestamp,
    pub(super) listener: L,
    /// Every single latency.
    #[cfg(test)]
    pub(super) measured: Vec<Latency>,
}

impl<L: ActivityListener> Observation<L> {
    pub(super) fn new(options: AnalyzerOptions, listener: L) -> Self {
        Self {
            ended: Busiest::new(options.max_rows),
            redaction: options.written.map(Redaction::new),
            options,
            connections: FxHashMap::default(),
            totals: Totals::default(),
            left_out: LeftOut::default(),
            frames: FrameCounts::default(),
            latencies: LatencyHistograms::new(LatencyHistograms::OF_ALL),
            replies: Replies::default(),
            events: EventLog::default(),
            now: Timestamp::default(),
            last: Timestamp::default(),
            listener,
            #[cfg(test)]
            measured: Vec::new(),
        }
    }

    /// Records a segment before it is processed.
    pub(super) fn begin(&mut self, segment: &Segment<'_>) {
        if self.totals.segments == 0 {
            self.totals.first = segment.time;
        }
        self.totals.segments += 1;
        self.totals.data_segments += u64::from(segment.payload_length > 0);
        self.totals.payload_bytes += u64::from(segment.payload_length);
        self.now = segment.time;
        // Clocks may be set back.
        self.last = self.last.max(segment.time);
        if let Some(redaction) = &mut self.redaction {
            redaction.begin(segment.packet);
        }
    }

    /// Completes the totals after the last packet.
    pub(super) fn finish(&mut self) {
        self.totals.duration_nanos =
            self.last.unix_nanos().saturating_sub(self.totals.first.unix_nanos());
        self.latencies.add_unmatched(LatencyKind::RequestToReply, self.replies.unmatched());
    }

    fn connection(&mut self, id: ConnectionId) -> &mut ConnectionState {
        self.connections.get_mut(&id).expect("a connection is opened before anything is told of it")
    }

    /// Returns the sender of a direction, the sink for its frames, and the conversation that reads it.
    fn sink(
        &mut self,
        id: ConnectionId,
        direction: Direction,
    ) -> (Side, Sink<'_, L>, &mut Conversation) {
        let state = self.connections.get_mut(&id);
        let state = state.expect("a connection is opened before its bytes come");
        let sender = state.sender(direction);
        let Parts { ends, number, conversation, reading, sensitive, activity } = state.parts();
        let sink = Sink {
            ends,
            number,
            events: &mut self.events,
            reading,
            frames: &mut self.frames,
            latencies: &mut self.latencies,
            replies: &mut self.replies,
            redaction: self.redaction.as_ref(),
            sensitive,
            activity: activity.map(|reader| (reader, &mut self.listener)),
            #[cfg(test)]
            measured: &mut self.measured,
        };
        (sender, sink, conversation)
    }

    /// Returns the side that opened a connection: the client if a SYN shows it; otherwise the ports decide.
    fn opener(&self, endpoints: &Endpoints) -> Side {
        let is_broker = |port| self.options.is_broker(port);
        let (opener, acceptor) = (endpoints.opener.port(), endpoints.acceptor.port());
        match (is_broker(opener), is_broker(acceptor)) {
            _ if endpoints.opener_is_known => Side::Client,
            (true, false) => Side::Broker,
            (false, true) => Side::Client,
            // Clients get ports from the upper range.
            _ if opener < acceptor => Side::Broker,
            _ => Side::Client,
        }
    }
}

impl<L: ActivityListener> TcpObserver for Observation<L> {
    fn opened(&mut self, id: ConnectionId, endpoints: &Endpoints) {
        let opener = self.opener(endpoints);
        let (client, broker) = match opener {
            Side::Client => (endpoints.opener, endpoints.acceptor),
            Side::Broker => (endpoints.acceptor, endpoints.opener),
        };
        let is_pictured = id.0 < MAX_PICTURED;
        let mut state = ConnectionState::new(
            id.0,
            opener,
            [client.to_string(), broker.to_string()],
            is_pictured,
        );
        if L::IS_LISTENING {
            state.read_activity();
            let from_the_start = endpoints.opener_is_known;
            self.listener.opened(id.0, &Ends { client, broker, from_the_start, time: self.now });
        }
        self.connections.insert(id, Box::new(state));
    }

    fn chunk(&mut self, id: ConnectionId, direction: Direction, chunk: Chunk<'_>) {
        let (sender, mut sink, conversation) = self.sink(id, direction);
        sink.reading.messages.segment(sender);
        sink.reading.life.chunk(sender, &chunk);
        conversation.chunk(sender, &chunk, &mut sink);
        if let Some(redaction) = &mut self.redaction {
            let state = self.connections.get_mut(&id).expect("it was there just now");
            redaction.chunk(&mut state.sensitive, sender, &chunk);
        }
    }

    fn gap(&mut self, id: ConnectionId, direction: Direction, gap: Gap) {
        self.left_out.gaps += 1;
        self.left_out.gap_bytes += gap.length;
        let (sender, mut sink, conversation) = self.sink(id, direction);
        sink.reading.messages.gap(sender);
        sink.reading.exchanges.gap(sender, gap.time);
        sink.missed(sender);
        conversation.gap(sender, &gap, &mut sink);
    }

    fn behind(&mut self, id: ConnectionId, direction: Direction, is_behind: bool) {
        let state = self.connection(id);
        let sender = state.sender(direction);
        state.reading.exchanges.behind(sender, is_behind);
        if L::IS_LISTENING {
            self.listener.missed(id.0, sender);
        }
    }

    fn segment(&mut self, id: ConnectionId, direction: Direction, segment: &TracedSegment) {
        self.totals.retransmitted_segments += u64::from(segment.retransmitted_bytes > 0);
        let state = self.connection(id);
        let sender = state.sender(direction);
        state.segment(sender, segment);
    }

    fn zero_window(&mut self, id: ConnectionId, direction: Direction, of: ZeroWindow) {
        let state = self.connection(id);
        let sender = state.sender(direction);
        let direction = state.direction(sender);
        direction.zero_window(of);
        direction.trigger(Trigger::ZeroWindow);
    }

    fn stall(&mut self, id: ConnectionId, direction: Direction, stall: Stall) {
        let state = self.connection(id);
        let sender = state.sender(direction);
        let direction = state.direction(sender);
        direction.stall(stall);
        direction.trigger(Trigger::Stall);
    }

    fn ended(&mut self, id: ConnectionId, summary: &ConnectionSummary) {
        let Some(mut state) = self.connections.remove(&id) else { return };
        if L::IS_LISTENING {
            let is_closed = summary.is_closed() || is_reset(summary);
            self.listener.ended(id.0, summary.last, is_closed);
        }
        for seen in state.last_events(summary, self.last) {
            let Parts { ends, number, .. } = state.parts();
            self.events.add(&seen, number, || ConnectionState::label(ends));
        }
        let ended: EndedConnection = state.end(summary);
        self.totals.add(&ended.report, ended.unread_bytes);
        for latency in &ended.report.latencies {
            self.latencies.add_unmatched(latency.kind, latency.unmatched);
        }
        self.ended.add(ended);
    }
}

/// Receives the results of a connection's dissectors.
struct Sink<'a, L> {
    ends: &'a [String; 2],
    number: u64,
    events: &'a mut EventLog,
    reading: &'a mut Reading,
    frames: &'a mut FrameCounts,
    latencies: &'a mut LatencyHistograms,
    replies: &'a mut Replies,
    redaction: Option<&'a Redaction>,
    sensitive: &'a mut [SensitiveRanges; 2],
    activity: Option<(&'a mut ActivityReader, &'a mut L)>,
    #[cfg(test)]
    measured: &'a mut Vec<Latency>,
}

impl<L: ActivityListener> Sink<'_, L> {
    /// Records that frames of one side were missed.
    fn missed(&mut self, sender: Side) {
        if let Some((reader, listener)) = &mut self.activity {
            reader.forget(sender);
            listener.missed(self.number, sender);
        }
    }
}

impl<L: ActivityListener> FrameSink for Sink<'_, L> {
    fn frame(&mut self, frame: &Frame<'_>) {
        let Self { reading, frames, latencies, replies, ends, .. } = self;
        frames.add(frame);
        let event = reading.frame(frame, replies, &mut |latency: &Latency| {
            #[cfg(test)]
            self.measured.push(*latency);
            latencies.add(kind_of(latency), latency.nanos);
        });
        if let Some((reader, listener)) = &mut self.activity {
            let number = self.number;
            reader.frame(frame, &mut |event| listener.event(number, event));
        }
        if let Some(event) = event {
            self.events.add(&event, self.number, || ConnectionState::label(ends));
        }
    }

    fn sensitive(&mut self, sensitive: &Sensitive) {
        if let Some(redaction) = self.redaction {
            redaction.sensitive(self.sensitive, sensitive);
        }
    }

    fn lost(&mut self, loss: &Loss) {
        self.reading.exchanges.lost(loss);
        self.missed(loss.sender);
    }

    fn found(&mut self, skipped: &Skipped) {
        self.reading.messages.gap(skipped.sender);
        self.reading.exchanges.found(skipped);
        if !skipped.range.is_empty() {
            self.missed(skipped.sender);
        }
    }
}
