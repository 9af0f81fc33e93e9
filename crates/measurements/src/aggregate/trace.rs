//! `run.trace-every`: the history of every n-th message, joined from the observations of load threads.

use std::collections::HashMap;

use rabbitscope_runs::record::TracedMessage;
use rabbitscope_timing::{Nanos, RunInstant};
use rabbitscope_verify::{TraceStep, TraceStepKind};

/// Limit of the traced messages; further ones count as a loss. With about 100 bytes each: 50 MB.
const MESSAGES_MAX: usize = 500_000;

/// The traced messages of a run.
#[derive(Debug, Default)]
pub(super) struct TraceCollector {
    messages: Vec<TracedMessage>,
    /// The index of the latest message with each number: numbers wrap around.
    index: HashMap<u32, usize>,
    /// Messages beyond the limit.
    left_out: u64,
}

impl TraceCollector {
    pub(crate) fn add(&mut self, step: TraceStep) {
        let TraceStep { number, at, kind } = step;
        if let TraceStepKind::Sent { publisher, sequence, lateness } = kind {
            return self.sent(number, publisher, sequence, (at, lateness));
        }
        // Another thread may report the delivery before the sending.
        let Some(message) = self.message(number) else { return };
        match kind {
            TraceStepKind::Settled { accepted } => {
                message.confirmed_nanos = Some(at.nanos()).filter(|_| accepted);
                message.refused = !accepted;
            }
            TraceStepKind::Delivered { redelivered } => {
                message.delivered_nanos.get_or_insert(at.nanos());
                message.deliveries += 1;
                message.redelivered |= redelivered;
            }
            TraceStepKind::Sent { .. } => {}
        }
    }

    fn sent(
        &mut self,
        number: u32,
        publisher: u32,
        sequence: u64,
        (at, lateness): (RunInstant, Option<Nanos>),
    ) {
        let known = self.index.get(&number).map(|index| &self.messages[*index]);
        if known.is_some_and(|message| message.sent_nanos > 0) {
            if known.is_some_and(|message| message.sequence == sequence) {
                // The message was sent again after a lost connection: the first time counts.
                return;
            }
            self.index.remove(&number);
        }
        if let Some(message) = self.message(number) {
            message.publisher = publisher;
            message.sequence = sequence;
            // 0 marks a message whose sending has not been reported.
            message.sent_nanos = at.nanos().max(1);
            let intended = |lateness: Nanos| at.nanos().saturating_sub(lateness.get());
            message.intended_nanos = lateness.map(intended);
        } else {
            self.left_out += 1;
        }
    }

    fn message(&mut self, number: u32) -> Option<&mut TracedMessage> {
        let next = self.messages.len();
        let index = match self.index.get(&number) {
            Some(index) => *index,
            None if next < MESSAGES_MAX => {
                self.messages.push(TracedMessage::default());
                self.index.insert(number, next);
                next
            }
            None => return None,
        };
        self.messages.get_mut(index)
    }

    /// Returns the messages in the order of sending, and the number of messages beyond the limit.
    pub(crate) fn finish(self) -> (Vec<TracedMessage>, u64) {
        let mut messages = self.messages;
        messages.retain(|message| message.sent_nanos > 0);
        messages.sort_by_key(|message| (message.sent_nanos, message.publisher, message.sequence));
        (messages, self.left_out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(number: u32, at: u64, kind: TraceStepKind) -> TraceStep {
        let at = RunInstant::from_nanos(at);
        TraceStep { number, at, kind }
    }

    fn sent(sequence: u64, lateness: Option<u64>) -> TraceStepKind {
        TraceStepKind::Sent { publisher: 3, sequence, lateness: lateness.map(Nanos::new) }
    }

    const FIRST: TraceStepKind = TraceStepKind::Delivered { redelivered: false };
    const AGAIN: TraceStepKind = TraceStepKind::Delivered { redelivered: true };

    #[test]
    fn steps_make_a_story_in_whatever_order() {
        let mut trace = TraceCollector::default();
        for it in [
            step(7, 500, FIRST),
            step(7, 100, sent(70, Some(40))),
            step(7, 600, AGAIN),
            step(7, 300, TraceStepKind::Settled { accepted: true }),
            step(8, 90, sent(80, None)),
            step(8, 95, TraceStepKind::Settled { accepted: false }),
            step(9, 91, FIRST),
        ] {
            trace.add(it);
        }
        let refused = TracedMessage {
            publisher: 3,
            sequence: 80,
            sent_nanos: 90,
            refused: true,
            ..TracedMessage::default()
        };
        let delivered = TracedMessage {
            publisher: 3,
            sequence: 70,
            intended_nanos: Some(60),
            sent_nanos: 100,
            confirmed_nanos: Some(300),
            delivered_nanos: Some(500),
            deliveries: 2,
            redelivered: true,
            refused: false,
        };
        assert_eq!(trace.finish(), (vec![refused, delivered], 0));
    }

    #[test]
    fn numbers_that_come_again_are_new_messages() {
        let mut trace = TraceCollector::default();
        for it in [
            step(7, 100, sent(7, None)),
            step(7, 200, sent(7, None)),
            step(7, 300, sent(263, None)),
            step(7, 400, FIRST),
        ] {
            trace.add(it);
        }
        let (messages, _) = trace.finish();
        let found: Vec<_> = messages
            .iter()
            .map(|found| (found.sequence, found.sent_nanos, found.deliveries))
            .collect();
        assert_eq!(found, [(7, 100, 0), (263, 300, 1)]);
    }
}
