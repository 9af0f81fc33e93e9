//! Publishers on one connection.

mod batch;
mod overdue;
mod publisher;

use rabbitscope_amqp::{ConfirmRing, Connection};
use rabbitscope_runs::scenario::{ConfirmTimeout, PublisherGroup, WriteMode};

use super::{CHUNK, Failure, Moment, socket::Socket, turns::Turns};
use crate::clock::nanos;
use batch::{QUANTUM, Sent, low_bits};
use overdue::never_confirmed;
pub(super) use publisher::{Publisher, PublisherProgress};

/// Messages in a row with a write for each, before other connections get their turn.
const SINGLE_WRITES: u32 = 64;

pub(super) struct Publishing {
    publishers: Vec<Publisher>,
    /// By channel number; absent without confirms.
    rings: Vec<Option<ConfirmRing<Sent>>>,
    turns: Turns,
    outstanding: u64,
    is_stopped: bool,
    has_schedule: bool,
    write: WriteMode,
    confirm_timeout: Option<ConfirmTimeout>,
    /// By channel number: when the message was sent for which a timeout has been counted.
    overdue: Vec<Option<u64>>,
}

/// What may still be encoded for one write. The first message goes whatever its size.
struct Room {
    bytes: usize,
    is_whole: bool,
}

impl Room {
    #[inline]
    fn new(bytes: usize) -> Self {
        Self { bytes, is_whole: true }
    }

    /// Messages of `size` bytes for which there is room.
    #[inline]
    fn fits(&self, size: usize) -> u64 {
        (self.bytes / size).max(usize::from(self.is_whole)) as u64
    }

    #[inline]
    fn take(&mut self, size: usize, count: u64) {
        let bytes = usize::try_from(count).map_or(usize::MAX, |count| size.saturating_mul(count));
        self.bytes = self.bytes.saturating_sub(bytes);
        self.is_whole &= count == 0;
    }
}

impl Publishing {
    pub(super) fn new(publishers: Vec<Publisher>, group: &PublisherGroup) -> Self {
        let channels = publishers.iter().map(|publisher| publisher.channel).max().unwrap_or(0);
        let mut rings: Vec<_> = (0..=channels).map(|_| None).collect();
        for publisher in publishers.iter().filter(|publisher| publisher.window.is_some()) {
            rings[usize::from(publisher.channel)].get_or_insert_default();
        }
        let mut turns = Turns::new(publishers.len());
        (0..publishers.len()).for_each(|index| turns.ask(index));
        Self {
            has_schedule: publishers.iter().any(|publisher| publisher.pace.is_some()),
            publishers,
            overdue: vec![None; rings.len()],
            rings,
            turns,
            outstanding: 0,
            is_stopped: false,
            write: group.write,
            confirm_timeout: group.confirm_timeout,
        }
    }

    /// Encodes up to a chunk of messages; false when there was nothing to send.
    #[inline]
    pub(super) fn encode(&mut self, socket: &mut Socket, moment: &mut Moment<'_>) -> bool {
        if self.is_stopped || !socket.can_publish() {
            return false;
        }
        moment.begin(self.has_schedule);
        if let Some(until) = self.until(moment) {
            self.turns.advance(until);
        }
        let mut room = Room::new(if self.write == WriteMode::Batched { CHUNK } else { 0 });
        let mut encoded = 0;
        while let Some(index) = self.turns.next() {
            let Some(sent) = self.send(index, &mut room, socket, moment) else {
                self.turns.ask_first(index);
                break;
            };
            encoded += sent;
            self.wake(index, moment);
        }
        socket.encoded(encoded);
        encoded > 0
    }

    /// What is due until then may go; absent: schedules wait.
    #[inline]
    fn until(&self, moment: &Moment<'_>) -> Option<u64> {
        if self.has_schedule { moment.due_until } else { Some(moment.now) }
    }

    /// A publisher that can send, or will when its time has come, asks for its turn.
    #[inline]
    fn wake(&mut self, index: usize, moment: &Moment<'_>) {
        match self.publishers[index].asks_at(moment.now) {
            Some(due) if self.until(moment).is_some_and(|until| due <= until) => {
                self.turns.ask(index);
            }
            Some(due) => self.turns.ask_at(index, due),
            None => {}
        }
    }

    /// Writes in a row before other connections get their turn.
    pub(super) fn write_rounds(&self) -> u32 {
        if self.write == WriteMode::Batched { super::WRITE_ROUNDS } else { SINGLE_WRITES }
    }

    /// Encodes messages of one publisher and says how many; absent when it has some and there is no room.
    #[inline]
    fn send(
        &mut self,
        index: usize,
        room: &mut Room,
        socket: &mut Socket,
        moment: &mut Moment<'_>,
    ) -> Option<u64> {
        let is_alone = self.publishers.len() == 1;
        let publisher = &mut self.publishers[index];
        let size = publisher.payload.wire_size();
        publisher.leave_out(socket, moment);
        let fair = if is_alone { u64::MAX } else { QUANTUM as u64 };
        let most = publisher.allowed(moment).min(fair);
        if most == 0 {
            return Some(0);
        }
        let most = most.min(room.fits(size));
        if most == 0 {
            return None;
        }
        moment.has_paced |= publisher.pace.is_some();
        let ring = self.rings[usize::from(publisher.channel)].as_mut();
        let is_confirmed = ring.is_some();
        let number = u32::try_from(index).unwrap_or(0);
        let count = publisher.append(most, socket, ring, number, moment);
        if !is_confirmed && let Some(witness) = &mut moment.witness {
            let sent = publisher.progress.sent;
            witness.written(publisher.number, low_bits(sent - count), low_bits(count));
        }
        if is_confirmed {
            self.outstanding += count;
            publisher.commit_full(&mut socket.connection);
        }
        publisher.note_end(moment);
        room.take(size, count);
        Some(count)
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
        let (publishers, turns) = (&mut self.publishers, &mut self.turns);
        // Messages of one write have the same time: they are recorded together.
        let (mut run_at, mut run, mut settled) = (0, 0, 0);
        let outcome = ring.settle(tag, multiple, |sent| {
            if publishers[sent.publisher as usize].settled(moment) {
                turns.ask(sent.publisher as usize);
            }
            settled += 1;
            if let Some(witness) = &mut moment.witness {
                let publisher = publishers[sent.publisher as usize].number;
                witness.settled(publisher, sent.sequence, moment.now, accepted);
            }
            if let Some(late_nanos) = sent.late_nanos.filter(|_| accepted) {
                moment.confirmed_intended(sent.at, late_nanos);
            }
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
        let publishers = &mut self.publishers;
        for ring in self.rings.iter_mut().flatten() {
            let settled = std::mem::take(ring).settle(0, true, |sent| {
                publishers[sent.publisher as usize].unanswered(&sent);
            });
            debug_assert!(settled.is_ok(), "everything is always outstanding or settled");
        }
        for (index, publisher) in self.publishers.iter_mut().enumerate() {
            publisher.lose(moment);
            self.turns.ask(index);
        }
        moment.tally.counts.unanswered += std::mem::take(&mut self.outstanding);
    }

    /// What has no confirm gets none: it counts with its age.
    pub(super) fn give_up(&mut self, moment: &mut Moment<'_>) {
        for ring in self.rings.iter_mut().flatten() {
            let settled =
                std::mem::take(ring).settle(0, true, |sent| never_confirmed(&sent, moment));
            debug_assert!(settled.is_ok(), "everything is always outstanding or settled");
        }
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
        let is_due = |until| self.turns.first_due().is_some_and(|due| due <= until);
        let anybody = self.turns.is_anybody_ready() || self.until(moment).is_some_and(is_due);
        anybody && !self.is_stopped
    }

    pub(super) fn next_due(&self) -> Option<u64> {
        self.turns.first_due().filter(|_| !self.is_stopped)
    }

    pub(super) fn outstanding(&self) -> u64 {
        self.outstanding
    }

    /// Whether the broker owes an answer.
    pub(super) fn is_owed(&self) -> bool {
        self.publishers.iter().any(Publisher::is_owed)
    }

    /// Nothing more is sent, but transactions that are open are committed.
    pub(super) fn stop(&mut self, connection: &mut Connection, moment: &mut Moment<'_>) {
        self.is_stopped = true;
        for publisher in &mut self.publishers {
            publisher.stop(connection, moment);
        }
    }

    pub(super) fn count(&self) -> usize {
        self.publishers.len()
    }

    /// Counts what goes on up to now.
    pub(super) fn tick(&mut self, moment: &mut Moment<'_>) {
        for publisher in &mut self.publishers {
            publisher.count_full(moment);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Messages of these sizes, in turn, that go into one write.
    fn written(bytes: usize, sizes: &[usize]) -> usize {
        let mut room = Room::new(bytes);
        let fitting = sizes.iter().cycle().take_while(|size| {
            let fits = room.fits(**size) > 0;
            room.take(**size, u64::from(fits));
            fits
        });
        fitting.count()
    }

    #[test]
    fn a_write_is_no_larger_than_there_is_room() {
        assert_eq!(Room::new(CHUNK).fits(69), 949);
        assert_eq!(written(CHUNK, &[69]), 949);
        assert_eq!(written(200, &[69, 62]), 3);
        assert_eq!(written(199, &[69, 62]), 2);
    }

    #[test]
    fn the_first_message_goes_whatever_its_size() {
        assert_eq!(written(0, &[69]), 1);
        assert_eq!(written(CHUNK, &[CHUNK + 1, 69]), 1);
        assert_eq!(written(CHUNK, &[69, CHUNK]), 1);
    }
}
