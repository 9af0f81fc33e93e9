//! Publishers on one connection.

use rabbitscope_amqp::{ConfirmRing, Connection, Request};
use rabbitscope_data::scenario::{ConfirmTimeout, PublisherGroup};

use super::{Failure, Moment, socket::Socket};
use crate::{
    clock::nanos,
    message::Payload,
    pace::Pace,
    stamp::{self, Stamp},
};

/// Bytes encoded for one write. Large enough to make the write cheap, small enough that the time
/// stamps, taken once for each, are true.
const CHUNK: usize = 64 * 1024;

/// Messages that a publisher may send before the others on its connection get their turn.
const QUANTUM: u64 = 64;

pub(super) struct Publishing {
    publishers: Vec<Publisher>,
    /// By channel number; absent without confirms.
    rings: Vec<Option<ConfirmRing<Sent>>>,
    /// Whose turn it is.
    turn: usize,
    outstanding: u64,
    is_stopped: bool,
    confirm_timeout: Option<ConfirmTimeout>,
    /// By channel number: when the message was sent for which a timeout has been counted.
    overdue: Vec<Option<u64>>,
}

/// Remembered for each message until its confirm.
#[derive(Clone, Copy, Debug)]
struct Sent {
    /// Nanoseconds since the run began.
    at: u64,
    publisher: u32,
}

pub(super) struct Publisher {
    pub(super) channel: u16,
    pub(super) payload: Payload,
    /// Number within its group.
    pub(super) number: u32,
    pub(super) window: Option<u32>,
    /// A commit follows so many messages; the window is as large.
    pub(super) tx_size: Option<u32>,
    /// Nothing is sent before, in nanoseconds since the run began.
    pub(super) start: u64,
    pub(super) limit: Option<u64>,
    pub(super) pace: Option<Pace>,
    pub(super) sent: u64,
    pub(super) outstanding: u32,
}

impl Publisher {
    /// Messages that window and limit leave room for.
    #[inline]
    fn room(&self) -> u64 {
        let window = self
            .window
            .map_or(u64::MAX, |window| u64::from(window.saturating_sub(self.outstanding)));
        window.min(self.limit.map_or(u64::MAX, |limit| limit - self.sent))
    }

    /// Messages that may go now.
    #[inline]
    fn allowed(&self, moment: &Moment<'_>) -> u64 {
        let room = self.room();
        let Some(since) = moment.now.checked_sub(self.start) else { return 0 };
        match &self.pace {
            None => room,
            Some(pace) if moment.is_pacing && room > 0 => {
                room.min(pace.count_at(since).saturating_sub(self.sent))
            }
            Some(_) => 0,
        }
    }

    /// When the next message is due; absent when it waits for nothing.
    fn due(&self) -> Option<u64> {
        match &self.pace {
            Some(pace) => Some(self.start + pace.due(self.sent)),
            None => (self.sent == 0 && self.start > 0).then_some(self.start),
        }
    }
}

impl Publishing {
    pub(super) fn new(publishers: Vec<Publisher>, group: &PublisherGroup) -> Self {
        let channels = publishers.iter().map(|publisher| publisher.channel).max().unwrap_or(0);
        let mut rings: Vec<_> = (0..=channels).map(|_| None).collect();
        for publisher in publishers.iter().filter(|publisher| publisher.window.is_some()) {
            rings[usize::from(publisher.channel)].get_or_insert_default();
        }
        Self {
            publishers,
            overdue: vec![None; rings.len()],
            rings,
            turn: 0,
            outstanding: 0,
            is_stopped: false,
            confirm_timeout: group.confirm_timeout,
        }
    }

    /// Encodes up to a chunk of messages; false when there was nothing to send.
    #[inline]
    pub(super) fn encode(&mut self, socket: &mut Socket, moment: &mut Moment<'_>) -> bool {
        if self.is_stopped || !socket.can_publish() {
            return false;
        }
        moment.now = moment.clock.nanos();
        let count = self.publishers.len();
        let (mut room, mut idle, mut encoded) = (CHUNK, 0, 0);
        while room > 0 && idle < count {
            let sent = self.send(self.turn, &mut room, socket, moment);
            idle = if sent == 0 { idle + 1 } else { 0 };
            encoded += sent;
            self.turn = if self.turn + 1 == count { 0 } else { self.turn + 1 };
        }
        socket.encoded(encoded);
        encoded > 0
    }

    #[inline]
    fn send(
        &mut self,
        index: usize,
        room: &mut usize,
        socket: &mut Socket,
        moment: &mut Moment<'_>,
    ) -> u64 {
        let publisher = &mut self.publishers[index];
        let size = publisher.payload.wire_size();
        let fits = (*room / size).max(1) as u64;
        let count = publisher.allowed(moment).min(QUANTUM).min(fits);
        if count == 0 {
            return 0;
        }
        let ring = self.rings[usize::from(publisher.channel)].as_mut();
        moment.has_paced |= publisher.pace.is_some();
        publisher.append(count, socket, moment);
        if let Some(ring) = ring {
            let sent = Sent { at: moment.now, publisher: u32::try_from(index).unwrap_or(0) };
            for _ in 0..count {
                ring.push(sent);
            }
            publisher.outstanding += u32::try_from(count).unwrap_or(0);
            self.outstanding += count;
            publisher.commit_full(&mut socket.connection);
        }
        *room = room.saturating_sub(size * usize::try_from(count).unwrap_or(1));
        count
    }

    pub(super) fn on_confirm(
        &mut self,
        channel: u16,
        tag: u64,
        multiple: bool,
        accepted: bool,
        moment: &mut Moment<'_>,
    ) -> Result<(), Failure> {
        let ring = self.rings.get_mut(usize::from(channel)).and_then(Option::as_mut);
        let ring = ring.ok_or_else(|| {
            Failure::wrong(format!(
                "the broker confirmed on channel {channel}, which has no confirms"
            ))
        })?;
        let publishers = &mut self.publishers;
        // Messages of one write have the same time: they are recorded together.
        let (mut run_at, mut run, mut settled) = (0, 0, 0);
        let outcome = ring.settle(tag, multiple, |sent| {
            publishers[sent.publisher as usize].outstanding -= 1;
            settled += 1;
            if sent.at != run_at && run > 0 {
                moment.confirmed(run_at, run);
                run = 0;
            }
            run_at = sent.at;
            run += u64::from(accepted);
        });
        outcome.map_err(|error| Failure::wrong(error.to_string()))?;
        if run > 0 {
            moment.confirmed(run_at, run);
        }
        self.outstanding -= settled;
        let counts = &mut moment.tally.counts;
        *(if accepted { &mut counts.confirmed } else { &mut counts.nacked }) += settled;
        Ok(())
    }

    /// The connection is gone, and with it the answers to what was sent on it. Sequence numbers
    /// start again on the next one.
    pub(super) fn lose(&mut self, moment: &mut Moment<'_>) {
        for ring in self.rings.iter_mut().flatten() {
            *ring = ConfirmRing::default();
        }
        for publisher in &mut self.publishers {
            publisher.outstanding = 0;
        }
        moment.tally.counts.unanswered += std::mem::take(&mut self.outstanding);
    }

    /// A transaction is committed: all that was sent on the channel counts as confirmed.
    pub(super) fn on_commit(
        &mut self,
        channel: u16,
        moment: &mut Moment<'_>,
    ) -> Result<(), Failure> {
        self.on_confirm(channel, 0, true, true, moment)
    }

    /// Counts channels on which nothing is confirmed any more.
    pub(super) fn check_confirms(&mut self, moment: &mut Moment<'_>) -> Result<(), Failure> {
        let Some(timeout) = self.confirm_timeout else { return Ok(()) };
        for (ring, overdue) in self.rings.iter().zip(&mut self.overdue) {
            let oldest = ring.as_ref().and_then(ConfirmRing::oldest).map(|sent| sent.at);
            let late = oldest.filter(|at| moment.now >= at.saturating_add(nanos(timeout.after)));
            if late.is_some() && late != *overdue {
                moment.tally.counts.confirm_timeouts += 1;
                if timeout.ends_run {
                    return Err(Failure::wrong(format!(
                        "a message was not confirmed within {} s (`confirm-timeout`)",
                        timeout.after.as_secs_f64()
                    )));
                }
            }
            *overdue = late;
        }
        Ok(())
    }

    pub(super) fn has_due(&self, moment: &Moment<'_>) -> bool {
        !self.is_stopped && self.publishers.iter().any(|publisher| publisher.allowed(moment) > 0)
    }

    pub(super) fn next_due(&self) -> Option<u64> {
        if self.is_stopped {
            return None;
        }
        let waiting = self.publishers.iter().filter(|publisher| publisher.room() > 0);
        waiting.filter_map(Publisher::due).min()
    }

    pub(super) fn outstanding(&self) -> u64 {
        self.outstanding
    }

    /// Nothing more is sent, but transactions that are open are committed.
    pub(super) fn stop(&mut self, connection: &mut Connection) {
        self.is_stopped = true;
        for publisher in &mut self.publishers {
            publisher.commit_rest(connection);
        }
    }
}

impl Publisher {
    #[inline]
    fn append(&mut self, count: u64, socket: &mut Socket, moment: &mut Moment<'_>) {
        let mut head = Stamp {
            mark: moment.mark,
            nanos: moment.now,
            publisher: low_bits(u64::from(self.number)),
            sequence: 0,
        }
        .encode();
        let sequences = self.sent..self.sent + count;
        match &mut self.payload {
            Payload::Plain { template, is_stamped } => {
                for sequence in sequences {
                    number(&mut head, sequence);
                    let head = if *is_stamped { &head[..] } else { &[] };
                    socket.connection.publish(template, head);
                }
            }
            Payload::Composed(composed) => {
                let mut turn = composed.turn(moment.now);
                for sequence in sequences {
                    number(&mut head, sequence);
                    let (route, content) = turn.next();
                    let has_room = content.head_room() >= stamp::SIZE;
                    let head = if has_room { &head[..] } else { &[] };
                    socket.connection.publish_parts(self.channel, route, content, head);
                }
            }
        }
        self.sent += count;
        if self.limit == Some(self.sent) {
            moment.publishers_done += 1;
        }
    }

    /// Commits a transaction that has all its messages.
    #[inline]
    fn commit_full(&mut self, connection: &mut Connection) {
        let Some(size) = self.tx_size else { return };
        if self.outstanding == size || self.limit == Some(self.sent) {
            connection.request(self.channel, &Request::TxCommit);
        }
    }

    /// Commits a transaction that will get no more messages.
    fn commit_rest(&mut self, connection: &mut Connection) {
        let is_open = self.tx_size.is_some_and(|size| (1..size).contains(&self.outstanding));
        if is_open && self.limit != Some(self.sent) {
            connection.request(self.channel, &Request::TxCommit);
        }
    }
}

#[inline]
fn number(head: &mut [u8; stamp::SIZE], sequence: u64) {
    head[stamp::SIZE - 2..].copy_from_slice(&low_bits(sequence).to_be_bytes());
}

#[expect(clippy::cast_possible_truncation, reason = "the stamp keeps the low 16 bits")]
fn low_bits(number: u64) -> u16 {
    number as u16
}
