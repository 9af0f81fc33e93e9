//! What load threads observe of single messages, for `run.verify` and `run.trace-every`.

/// A consumer at a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Reader {
    /// Number of the queue; see [`super::QueueIndex`].
    pub(crate) place: u32,
    /// Number of the consumer among all of the scenario.
    pub(crate) consumer: u32,
}

/// Something that a load thread saw. Neighbouring messages are put together: `first` is the number of
/// the first of `count`. Publishers know the low 32 bits of their numbers, consumers those of the
/// stamp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Observation {
    /// The broker has confirmed them, or they were written and confirms were not asked for.
    Accepted { publisher: u32, first: u32, count: u32 },
    /// They are sent once more.
    Republished { publisher: u32, first: u32, count: u32 },
    /// The connection of a publisher without confirms was lost: nobody knows what of the messages
    /// before this one the broker had got.
    Unaccounted { publisher: u32, before: u32 },
    /// It came back as unroutable.
    Returned { number: u32 },
    /// They came to a consumer.
    Delivered { reader: Reader, first: u32, count: u32, redelivered: bool },
    /// The consumer has lost its connection and begins again.
    Resubscribed { reader: Reader },
    /// Of a message that is followed.
    Traced(TraceStep),
}

impl Observation {
    /// Makes one of two, if the second goes on where this one ends.
    pub(super) fn absorb(&mut self, next: &Self) -> bool {
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

/// Something that happened to a message that is followed. Times are nanoseconds since the run began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TraceStep {
    /// As in its stamp.
    pub(crate) number: u32,
    pub(crate) at: u64,
    pub(crate) kind: TraceStepKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TraceStepKind {
    /// By this publisher, as its message of this number, so long after its time on the schedule.
    Sent {
        publisher: u32,
        sequence: u64,
        late_nanos: Option<u64>,
    },
    Settled {
        accepted: bool,
    },
    Delivered {
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
        let delivered = |place, first, redelivered| Observation::Delivered {
            reader: Reader { place, consumer: 0 },
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
