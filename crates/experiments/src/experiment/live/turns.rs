//! The schedule of arms on a broker.

use rabbitscope_runs::experiment::{LiveDesign, Slice, order_of_round};

/// Length of the broker's warm-up before the first turn.
pub(super) const WARM_UP_SECONDS: u32 = 5;

/// The time for which one arm has the broker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Turn {
    pub(super) round: u32,
    /// Position in the round, from 1.
    pub(super) position: u32,
    pub(super) arm: usize,
    /// The second of the run in which the turn starts.
    pub(super) begins: u32,
    pub(super) seconds: u32,
}

impl Turn {
    /// Returns the counted part of the turn.
    pub(super) fn counted(&self) -> Slice {
        Slice { from_second: self.begins + 1, seconds: self.seconds - 1 }
    }
}

/// Returns the turns of these rounds on one broker. Each round has its own random order.
pub(super) fn turns(seed: u64, design: LiveDesign, rounds: &[u32], arms: usize) -> Vec<Turn> {
    let of_round = |round: &u32| {
        let order = order_of_round(seed, *round, arms, None);
        let round = *round;
        (1..).zip(order).map(move |(position, arm)| (round, position, arm))
    };
    let turn = |(number, (round, position, arm)): (u32, (u32, u32, usize))| Turn {
        round,
        position,
        arm,
        begins: WARM_UP_SECONDS + number * design.slice_seconds,
        seconds: design.slice_seconds,
    };
    (0..).zip(rounds.iter().flat_map(of_round)).map(turn).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_follow_each_other_and_leave_out_their_first_second() {
        let design = LiveDesign { slice_seconds: 5, brokers: 3 };
        let turns = turns(7, design, &[4, 6], 3);
        assert_eq!(turns.len(), 6);
        let begins: Vec<u32> = turns.iter().map(|turn| turn.begins).collect();
        assert_eq!(begins, [5, 10, 15, 20, 25, 30]);
        let rounds: Vec<u32> = turns.iter().map(|turn| turn.round).collect();
        assert_eq!(rounds, [4, 4, 4, 6, 6, 6]);
        let arms: Vec<usize> = turns[3..].iter().map(|turn| turn.arm).collect();
        assert_eq!(arms, order_of_round(7, 6, 3, None));
        assert_eq!(turns[1].counted(), Slice { from_second: 11, seconds: 4 });
    }

    #[test]
    fn rounds_share_brokers_in_equal_parts() {
        let design = LiveDesign { slice_seconds: 5, brokers: 3 };
        assert_eq!(design.rounds_with(1, 20), 1..=7);
        assert_eq!(design.rounds_with(8, 20), 8..=14);
        assert_eq!(design.rounds_with(20, 20), 15..=21);
        assert_eq!(design.rounds_with(23, 20), 22..=28);
    }
}
