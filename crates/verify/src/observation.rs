//! Observations of single messages by load threads, for `run.verify` and `run.trace-every`.

use rabbitscope_timing::{Nanos, RunInstant};

/// A consumer at a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Reader {
    /// Number of the queue in the queue index of the verification.
    pub queue: u32,
    /// Number of the consumer among all consumers of the scenario.
    pub consumer: u32,
}

/// An observation of a load thread. Observations of consecutive messages are merged: `first` is the number of the first
/// of `count` messages. Publishers know the low 32 bits of sequence numbers, consumers the bits of the stamp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Observation {
    /// The broker accepted the messages: it confirmed them, or answered a request behind them.
    Accepted {
        /// Number of the publisher.
        publisher: u32,
        /// Number of the first message.
        first: u32,
        /// Number of messages.
        count: u32,
    },
    /// The messages are sent again.
    Republished {
        /// Number of the publisher.
        publisher: u32,
        /// Number of the first message.
        first: u32,
        /// Number of messages.
        count: u32,
    },
    /// Messages without confirms whose fate is unknown. The connection was lost or the run ended before the broker
    /// answered a request behind them. The broker may have received some of them.
    Unaccounted {
        /// Number of the publisher.
        publisher: u32,
        /// Number of the first message.
        first: u32,
        /// Number of messages.
        count: u32,
    },
    /// The message was returned as unroutable.
    Returned {
        /// Number in the message's stamp.
        number: u32,
    },
    /// The messages were delivered to a consumer.
    Delivered {
        /// The consumer.
        reader: Reader,
        /// Number of the first message.
        first: u32,
        /// Number of messages.
        count: u32,
        /// Whether the broker marked them as redelivered.
        redelivered: bool,
    },
    /// The consumer lost its connection and subscribes again.
    Resubscribed {
        /// The consumer.
        reader: Reader,
    },
    /// A step in the history of a traced message.
    Traced(TraceStep),
}

impl Observation {
    /// Merges `next` into this observation if it continues it.
    pub fn absorb(&mut self, next: &Self) -> bool {
        match (self, next) {
            (
                Self::Accepted { publisher, first, count },
                Self::Accepted { publisher: of, first: from, count: more },
            ) if publisher == of && first.wrapping_add(*count) == *from => {
                *count += more;
                true
            }
            (
                Self::Delivered { reader, first, count, redelivered },
                Self::Delivered { reader: at, first: from, count: more, redelivered: again },
            ) if reader == at && redelivered == again && *first + *count == *from => {
                *count += more;
                true
            }
            _ => false,
        }
    }
}

/// A step in the history of a traced message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceStep {
    /// The number in the message's stamp.
    pub number: u32,
    /// Time of the step.
    pub at: RunInstant,
    /// Kind of the step.
    pub kind: TraceStepKind,
}

/// Kinds of steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TraceStepKind {
    /// Sent by this publisher with this sequence number, `lateness` after its scheduled time.
    Sent {
        /// Number of the publisher.
        publisher: u32,
        /// Sequence number at the publisher.
        sequence: u64,
        /// Time after the schedule; absent without one.
        lateness: Option<Nanos>,
    },
    /// Confirmed or refused by the broker.
    Settled {
        /// Whether the broker accepted the message.
        accepted: bool,
    },
    /// Delivered to a consumer.
    Delivered {
        /// Whether the broker marked it as redelivered.
        redelivered: bool,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_are_put_together() {
        fn check(mut first: Observation, next: Observation, expected: Option<Observation>) {
            assert_eq!(first.absorb(&next).then_some(first), expected);
        }
        let accepted = |publisher, first, count| Observation::Accepted { publisher, first, count };
        check(accepted(1, 5, 2), accepted(1, 7, 3), Some(accepted(1, 5, 5)));
        check(accepted(1, u32::MAX, 1), accepted(1, 0, 1), Some(accepted(1, u32::MAX, 2)));
        check(accepted(1, 5, 2), accepted(1, 8, 1), None);
        check(accepted(1, 5, 2), accepted(2, 7, 1), None);
        let delivered = |queue, first, redelivered| Observation::Delivered {
            reader: Reader { queue, consumer: 0 },
            first,
            count: 1,
            redelivered,
        };
        check(delivered(1, 5, false), delivered(1, 6, true), None);
        check(delivered(1, 5, false), delivered(2, 6, false), None);
        let mut two = delivered(1, 5, true);
        assert!(two.absorb(&delivered(1, 6, true)));
        assert!(matches!(two, Observation::Delivered { count: 2, .. }));
    }
}
