//! Turns of a publisher that waits for each confirm: a publish, a confirm, the next publish.
//!
//! They need no numbers, so they are known in the middle of a connection as well. A publisher with many unconfirmed
//! messages can also take turns, because each confirm lets it publish one more. Other figures tell both apart.

use crate::packet::Timestamp;

/// The place in a turn.
#[derive(Clone, Copy, Debug, Default)]
enum Place {
    /// Frames were missed.
    #[default]
    Unknown,
    Published(Timestamp),
    /// Publishes that followed each other.
    Several,
    Confirmed {
        published: Timestamp,
        confirmed: Timestamp,
    },
}

/// Turns, and the time that they took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TurnFigures {
    /// Number of turns.
    pub(crate) count: u64,
    /// Time from the publish to the confirm, in nanoseconds.
    pub(crate) wait_nanos: u64,
    /// Time from the confirm to the next publish, in nanoseconds.
    pub(crate) pause_nanos: u64,
}

impl TurnFigures {
    /// Adds the turns of another channel.
    pub(super) const fn plus(self, other: Self) -> Self {
        Self {
            count: self.count + other.count,
            wait_nanos: self.wait_nanos.saturating_add(other.wait_nanos),
            pause_nanos: self.pause_nanos.saturating_add(other.pause_nanos),
        }
    }
}

/// The turns of a channel.
#[derive(Clone, Debug, Default)]
pub(super) struct Turns {
    place: Place,
    figures: TurnFigures,
}

impl Turns {
    /// Records a publish; without a time it begins no turn.
    pub(super) fn publish(&mut self, time: Option<Timestamp>) {
        let Some(time) = time else { return self.forget() };
        self.place = match self.place {
            Place::Unknown => Place::Published(time),
            Place::Published(_) | Place::Several => Place::Several,
            Place::Confirmed { published, confirmed } => {
                let wait_nanos = nanos(published, confirmed);
                let pause_nanos = nanos(confirmed, time);
                self.figures = self.figures.plus(TurnFigures { count: 1, wait_nanos, pause_nanos });
                Place::Published(time)
            }
        };
    }

    /// Records a confirm, positive or negative; without a time it ends no turn.
    pub(super) fn confirm(&mut self, time: Option<Timestamp>) {
        self.place = match (self.place, time) {
            (Place::Published(published), Some(confirmed)) => {
                Place::Confirmed { published, confirmed }
            }
            _ => Place::Unknown,
        };
    }

    /// Forgets the turn that has begun.
    pub(super) fn forget(&mut self) {
        self.place = Place::Unknown;
    }

    pub(super) const fn figures(&self) -> TurnFigures {
        self.figures
    }
}

fn nanos(from: Timestamp, to: Timestamp) -> u64 {
    u64::try_from(to.since(from).as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(millis: u64) -> Timestamp {
        Timestamp::from_unix_nanos(millis * 1_000_000)
    }

    fn figures(turns: &Turns) -> (u64, u64, u64) {
        let TurnFigures { count, wait_nanos, pause_nanos } = turns.figures();
        (count, wait_nanos / 1_000_000, pause_nanos / 1_000_000)
    }

    #[test]
    fn a_publisher_that_waits_takes_turns() {
        let mut turns = Turns::default();
        for start in [0, 10, 20] {
            turns.publish(Some(at(start)));
            turns.confirm(Some(at(start + 7)));
        }
        assert_eq!(figures(&turns), (2, 14, 6));
        // The last one has no next publish yet.
        turns.publish(Some(at(40)));
        assert_eq!(figures(&turns), (3, 21, 19));
    }

    #[test]
    fn publishes_one_after_the_other_are_no_turns() {
        let mut turns = Turns::default();
        for start in 0..30 {
            turns.publish(Some(at(start)));
            if start % 3 == 2 {
                turns.confirm(Some(at(start)));
            }
        }
        assert_eq!(figures(&turns), (0, 0, 0));
    }

    #[test]
    fn a_gap_ends_a_turn_without_counting_it() {
        let mut turns = Turns::default();
        turns.publish(Some(at(0)));
        turns.confirm(Some(at(5)));
        turns.forget();
        turns.publish(Some(at(500)));
        turns.confirm(None);
        turns.publish(Some(at(600)));
        assert_eq!(figures(&turns), (0, 0, 0));
    }
}
