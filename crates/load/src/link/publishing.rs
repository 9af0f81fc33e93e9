//! Publishers on one connection.

use rabbitscope_amqp::{ConfirmRing, PublishTemplate};

use super::{Failure, Moment, socket::Socket};
use crate::{
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
    pub(super) template: PublishTemplate,
    /// Number within its group.
    pub(super) number: u32,
    /// Its body has room for a stamp.
    pub(super) is_stamped: bool,
    pub(super) window: Option<u32>,
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
        match &self.pace {
            None => room,
            Some(pace) if moment.is_pacing && room > 0 => {
                room.min(pace.count_at(moment.now).saturating_sub(self.sent))
            }
            Some(_) => 0,
        }
    }
}

impl Publishing {
    pub(super) fn new(publishers: Vec<Publisher>) -> Self {
        let channels = publishers.iter().map(|publisher| publisher.channel).max().unwrap_or(0);
        let mut rings: Vec<_> = (0..=channels).map(|_| None).collect();
        for publisher in publishers.iter().filter(|publisher| publisher.window.is_some()) {
            rings[usize::from(publisher.channel)].get_or_insert_default();
        }
        Self { publishers, rings, turn: 0, outstanding: 0, is_stopped: false }
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
        let size = publisher.template.wire_size();
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

    pub(super) fn has_due(&self, moment: &Moment<'_>) -> bool {
        !self.is_stopped && self.publishers.iter().any(|publisher| publisher.allowed(moment) > 0)
    }

    pub(super) fn next_due(&self) -> Option<u64> {
        if self.is_stopped {
            return None;
        }
        let waiting = self.publishers.iter().filter(|publisher| publisher.room() > 0);
        waiting.filter_map(|publisher| Some(publisher.pace?.due(publisher.sent))).min()
    }

    pub(super) fn outstanding(&self) -> u64 {
        self.outstanding
    }

    pub(super) fn stop(&mut self) {
        self.is_stopped = true;
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
        for sequence in self.sent..self.sent + count {
            head[stamp::SIZE - 2..].copy_from_slice(&low_bits(sequence).to_be_bytes());
            let head = if self.is_stamped { &head[..] } else { &[] };
            socket.connection.publish(&self.template, head);
        }
        self.sent += count;
        if self.limit == Some(self.sent) {
            moment.publishers_done += 1;
        }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the stamp keeps the low 16 bits")]
fn low_bits(number: u64) -> u16 {
    number as u16
}
