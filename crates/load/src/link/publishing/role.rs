//! Publishers on one connection.

use std::ops::Range;

use rabbitscope_measurements::{Failure, Side};
use rabbitscope_protocol::ConfirmRing;
use rabbitscope_runs::scenario::{ConfirmTimeout, PublisherGroup, WriteMode};
use rabbitscope_timing::{Nanos, RunInstant};

use super::{
    answers::{Answer, Settled, record},
    batch::{QUANTUM, SentMessage},
    confirm_wait::ConfirmWait,
    overdue::never_confirmed,
    publisher::Publisher,
    sends::Sends,
    write_budget::WriteBudget,
};
use crate::{
    link::{
        acceptance::BARRIER_BYTES,
        limits::{CHUNK, write_rounds},
        role::Role,
        serve_context::ServeContext,
        socket::Socket,
    },
    pacing::RoundRobin,
};

/// The publishers of a connection.
pub(in crate::link) struct Publishing<W: Sends> {
    publishers: Vec<Publisher<W>>,
    /// By lane: indexes of its publishers.
    by_lane: Vec<Vec<usize>>,
    /// By lane; absent without confirms.
    rings: Vec<Option<ConfirmRing<SentMessage>>>,
    /// The wait for an answer, by lane.
    waits: Vec<ConfirmWait>,
    round_robin: RoundRobin,
    outstanding: u64,
    is_stopped: bool,
    has_schedule: bool,
    write: WriteMode,
    confirm_timeout: Option<ConfirmTimeout>,
    /// By lane: sending time of the message whose timeout has been counted.
    overdue: Vec<Option<RunInstant>>,
}

impl<W: Sends> Publishing<W> {
    pub(in crate::link) fn new(publishers: Vec<Publisher<W>>, group: &PublisherGroup) -> Self {
        let lanes = publishers.iter().map(|publisher| publisher.lane).max().unwrap_or(0);
        let mut rings: Vec<_> = (0..=lanes).map(|_| None).collect();
        for publisher in publishers.iter().filter(|publisher| publisher.window.is_some()) {
            rings[usize::from(publisher.lane)].get_or_insert_default();
        }
        let mut by_lane = vec![Vec::new(); rings.len()];
        for (index, publisher) in publishers.iter().enumerate() {
            by_lane[usize::from(publisher.lane)].push(index);
        }
        let mut round_robin = RoundRobin::new(publishers.len());
        (0..publishers.len()).for_each(|index| round_robin.enqueue(index));
        Self {
            has_schedule: publishers.iter().any(|publisher| publisher.arrivals.is_some()),
            publishers,
            by_lane,
            overdue: vec![None; rings.len()],
            waits: vec![ConfirmWait::default(); rings.len()],
            rings,
            round_robin,
            outstanding: 0,
            is_stopped: false,
            write: group.write,
            confirm_timeout: group.confirm_timeout(),
        }
    }

    /// Returns the time up to which due messages may be sent; absent while schedules wait.
    #[inline]
    fn until(&self, context: &ServeContext<'_>) -> Option<RunInstant> {
        if self.has_schedule { context.pass.due_until } else { Some(context.now) }
    }

    /// Queues a publisher that can send now, or schedules it for its next message.
    #[inline]
    fn wake(&mut self, index: usize, context: &ServeContext<'_>) {
        match self.publishers[index].asks_at(context.now) {
            Some(due) if self.until(context).is_some_and(|until| due <= until) => {
                self.round_robin.enqueue(index);
            }
            Some(due) => self.round_robin.enqueue_at(index, due),
            None => {}
        }
    }

    /// Encodes messages of one publisher and returns their number; absent if this write has no room for them.
    #[inline]
    fn send(
        &mut self,
        index: usize,
        budget: &mut WriteBudget,
        socket: &mut Socket<W>,
        context: &mut ServeContext<'_>,
    ) -> Option<u64> {
        let is_alone = self.publishers.len() == 1;
        let publisher = &mut self.publishers[index];
        let size = publisher.payload.wire_size();
        publisher.leave_out(socket, context);
        let fair = if is_alone { u64::MAX } else { QUANTUM as u64 };
        let most = publisher.allowed(context).min(fair);
        if most == 0 {
            return Some(0);
        }
        let most = most.min(socket.connection.room(publisher.lane, size));
        if most == 0 {
            publisher.wait_for_credit(context.now);
            return Some(0);
        }
        let most = most.min(budget.fits(size));
        if most == 0 {
            return None;
        }
        context.pass.has_paced |= publisher.arrivals.is_some();
        let ring = self.rings[usize::from(publisher.lane)].as_mut();
        let is_confirmed = ring.is_some();
        let number = u32::try_from(index).unwrap_or(0);
        let count = publisher.append(most, socket, ring, number, context);
        if is_confirmed {
            self.outstanding += count;
            publisher.commit_full(&mut socket.connection);
        }
        publisher.note_end(context);
        budget.take(size, count);
        let lane = publisher.lane;
        if !is_confirmed {
            let bytes = W::sent_unconfirmed(socket, lane, count, context);
            if bytes > 0 {
                budget.take(bytes, 1);
                self.note_barrier(lane);
            }
        }
        Some(count)
    }

    /// Notes a barrier behind the messages of a lane.
    pub(super) fn note_barrier(&mut self, lane: u16) {
        self.each_on(lane, Publisher::on_barrier);
    }

    pub(super) fn each_on(&mut self, lane: u16, mut act: impl FnMut(&mut Publisher<W>)) {
        for index in self.by_lane.get(usize::from(lane)).into_iter().flatten() {
            act(&mut self.publishers[*index]);
        }
    }

    /// Wakes the publishers of a lane that wait for the broker to take messages again.
    #[inline]
    pub(super) fn on_room(&mut self, lane: u16, context: &mut ServeContext<'_>) {
        let Some(publishers) = self.by_lane.get(usize::from(lane)) else { return };
        for at in 0..publishers.len() {
            let index = self.by_lane[usize::from(lane)][at];
            if self.publishers[index].on_room(context) {
                self.wake(index, context);
            }
        }
    }

    /// Handles an answer of the broker about messages of a lane.
    #[inline]
    pub(super) fn on_settled(
        &mut self,
        lane: u16,
        settled: Settled,
        answer: Answer,
        context: &mut ServeContext<'_>,
    ) -> Result<(), Failure> {
        let accepted = answer != Answer::Refused;
        let ring = self.rings.get_mut(usize::from(lane)).and_then(Option::as_mut);
        let ring = ring.ok_or_else(|| {
            Failure::wrong(format!(
                "the broker confirmed a message on channel {lane}, which does not use confirms"
            ))
        })?;
        let oldest = ring.oldest().map(|sent| sent.at);
        self.waits[usize::from(lane)].on_answer(context.now, oldest, context.service);
        let (publishers, round_robin) = (&mut self.publishers, &mut self.round_robin);
        // Messages of one write have the same time, and are recorded together.
        let (mut run_at, mut run, mut count) = (RunInstant::START, 0, 0);
        let settle = |sent: &SentMessage, places: Range<u32>| {
            let settled = places.end - places.start;
            let publisher = &mut publishers[sent.publisher as usize];
            if publisher.settled(settled, context) {
                round_robin.enqueue(sent.publisher as usize);
            }
            count += u64::from(settled);
            if context.recorder.is_some() {
                record(publisher.number, (sent, places), answer, context);
            }
            if let Some(lateness) = sent.lateness.filter(|_| accepted) {
                context.confirmed_intended(sent.at, lateness);
            }
            if sent.at != run_at && run > 0 {
                context.confirmed(run_at, run);
                run = 0;
            }
            run_at = sent.at;
            run += if accepted { u64::from(settled) } else { 0 };
        };
        let outcome = match settled {
            Settled::One(tag) => ring.settle(tag, false, settle),
            Settled::UpTo(tag) => ring.settle(tag, true, settle),
            Settled::Range(first, last) => ring.settle_range(first, last, settle),
            Settled::Within(first, last) => ring.settle_within(first, last, settle),
        };
        outcome.map_err(|error| Failure::wrong(error.to_string()))?;
        if run > 0 {
            context.confirmed(run_at, run);
        }
        self.outstanding -= count;
        let counts = &mut context.measured.counts;
        *(if accepted { &mut counts.confirmed } else { &mut counts.nacked }) += count;
        counts.returned += if answer == Answer::Returned { count } else { 0 };
        counts.accept(if accepted { count } else { 0 });
        Ok(())
    }
}

impl<W: Sends> Role for Publishing<W> {
    type Wire = W;

    fn start(&mut self, _now: RunInstant, connection: &mut W) {
        for publisher in &mut self.publishers {
            publisher.resume(connection);
        }
    }

    fn write_rounds(&self) -> u32 {
        write_rounds(self.write)
    }

    #[inline]
    fn encode(
        &mut self,
        socket: &mut Socket<W>,
        context: &mut ServeContext<'_>,
    ) -> Result<bool, Failure> {
        if self.is_stopped || !socket.can_publish() {
            return Ok(false);
        }
        socket.write_as(self.write);
        context.begin(self.has_schedule);
        if let Some(until) = self.until(context) {
            self.round_robin.advance(until);
        }
        let mut budget = WriteBudget::new(if self.write == WriteMode::Batched {
            CHUNK - BARRIER_BYTES
        } else {
            0
        });
        let mut encoded = 0;
        while let Some(index) = self.round_robin.next() {
            let Some(sent) = self.send(index, &mut budget, socket, context) else {
                self.round_robin.enqueue_first(index);
                break;
            };
            encoded += sent;
            self.wake(index, context);
        }
        socket.encoded(encoded);
        Ok(encoded > 0)
    }

    fn on_disconnect(&mut self, context: &mut ServeContext<'_>) {
        let publishers = &mut self.publishers;
        for (ring, wait) in self.rings.iter_mut().zip(&mut self.waits) {
            let Some(ring) = ring else { continue };
            wait.on_disconnect(context.now, ring.oldest().map(|sent| sent.at));
            let settled = std::mem::take(ring).settle(0, true, |sent, places| {
                publishers[sent.publisher as usize].unanswered(sent, places);
            });
            debug_assert!(settled.is_ok(), "everything is always outstanding or settled");
        }
        for (index, publisher) in self.publishers.iter_mut().enumerate() {
            publisher.on_disconnect(context);
            self.round_robin.enqueue(index);
        }
        context.measured.counts.unanswered += std::mem::take(&mut self.outstanding);
    }

    fn give_up(&mut self, context: &mut ServeContext<'_>) {
        for (ring, wait) in self.rings.iter_mut().zip(&self.waits) {
            let Some(ring) = ring else { continue };
            wait.give_up(context.now, ring.oldest().map(|sent| sent.at), context.service);
            let settled = std::mem::take(ring).settle(0, true, |sent, places| {
                places.for_each(|_| never_confirmed(sent, context));
            });
            debug_assert!(settled.is_ok(), "everything is always outstanding or settled");
        }
        self.publishers.iter_mut().for_each(|publisher| publisher.give_up(context));
    }

    fn check_timeouts(&mut self, context: &mut ServeContext<'_>) -> Result<(), Failure> {
        let Some(timeout) = self.confirm_timeout else { return Ok(()) };
        for (ring, overdue) in self.rings.iter().zip(&mut self.overdue) {
            let oldest = ring.as_ref().and_then(ConfirmRing::oldest).map(|sent| sent.at);
            let after = Nanos::from(timeout.after);
            let late = oldest.filter(|sent_at| context.now >= *sent_at + after);
            if late.is_some() && late != *overdue {
                context.measured.counts.confirm_timeouts += 1;
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

    fn has_due(&self, context: &ServeContext<'_>) -> bool {
        let is_due = |until| self.round_robin.first_due().is_some_and(|due| due <= until);
        let anybody =
            self.round_robin.is_anybody_ready() || self.until(context).is_some_and(is_due);
        anybody && !self.is_stopped
    }

    fn next_due(&self, can_publish: bool) -> Option<RunInstant> {
        self.round_robin.first_due().filter(|_| can_publish && !self.is_stopped)
    }

    fn unconfirmed(&self) -> u64 {
        self.outstanding
    }

    fn is_owed(&self) -> bool {
        self.publishers.iter().any(Publisher::is_owed)
    }

    fn stop(&mut self, connection: &mut W, context: &mut ServeContext<'_>) {
        self.is_stopped = true;
        for publisher in &mut self.publishers {
            publisher.stop(connection, context);
        }
    }

    fn publishers(&self) -> usize {
        self.publishers.len()
    }

    fn tick(&mut self, context: &mut ServeContext<'_>) {
        for publisher in &mut self.publishers {
            publisher.count_waits(context);
        }
    }

    fn side(&self) -> Side {
        Side::Sending
    }

    fn awaited(&self) -> u64 {
        self.outstanding
    }
}
