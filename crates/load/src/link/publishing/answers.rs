//! Answers of the broker about sent messages, and their record for verification and trace.

use std::ops::Range;

use rabbitscope_verify::Observation;

use super::batch::SentMessage;
use crate::link::serve_context::ServeContext;

/// Messages that the broker has answered, by their sequence numbers.
#[derive(Clone, Copy, Debug)]
pub(super) enum Settled {
    /// One message.
    One(u64),
    /// All messages up to this one; all of them for 0.
    UpTo(u64),
    /// The messages from the first number to the last one.
    Range(u64, u64),
    /// Those of them that have no answer yet.
    Within(u64, u64),
}

/// The broker's answer about messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    Accepted,
    Refused,
    /// No queue takes them. AMQP 0-9-1 says so in a frame of its own, and confirms them too.
    Returned,
}

/// Records an answer about messages of a publisher, by their places among those of `sent`.
pub(super) fn record(
    publisher: u32,
    (sent, places): (&SentMessage, Range<u32>),
    answer: Answer,
    context: &mut ServeContext<'_>,
) {
    let Some(recorder) = &mut context.recorder else { return };
    for sequence in places.map(|place| sent.sequence_at(place)) {
        recorder.settled(publisher, sequence, context.now, answer != Answer::Refused);
        if answer == Answer::Returned {
            let number = context.run.numbering.join(publisher, sequence.into());
            recorder.note(Observation::Returned { number });
        }
    }
}
