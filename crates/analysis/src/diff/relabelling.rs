//! Relabellings of runs: which runs might have been those of the first side, and which of the second.

use rabbitscope_runs::experiment::shuffled;

/// Relabellings that are tried; where there are not more they are all of them. Those of 13 rounds.
const MAX_RELABELLINGS: usize = 4096;

/// How the runs of both sides belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunPairing {
    /// A run of the first side and one of the second were made in the same round, in an order that was drawn.
    Rounds,
    /// Nothing belongs together.
    None,
}

/// What the values of the runs are multiplied by before they are added up; the first relabelling is that of the
/// runs as they were. Values are differences of rounds, or those of all runs less their mean.
pub(super) struct Relabellings {
    pub(super) weights: Vec<Vec<f64>>,
    /// The squared sum times this is the part of the sum of squares that lies between the sides, and the sum times
    /// this is the difference of the means.
    pub(super) factor: f64,
    pub(super) degrees_of_freedom: f64,
}

impl Relabellings {
    /// Absent when there are so few that even the rarest of them is no news at `level`.
    pub(super) fn of([before, after]: [usize; 2], pairing: RunPairing, level: f64) -> Option<Self> {
        let (weights, factor, runs) = match pairing {
            RunPairing::Rounds => (signs(before), 1.0 / before as f64, before),
            RunPairing::None => {
                let factor = 1.0 / before as f64 + 1.0 / after as f64;
                (halves(before, after), factor, (before + after).saturating_sub(1))
            }
        };
        // The mirrored one is as rare.
        let rarest = if before == after && pairing == RunPairing::None { 2.0 } else { 1.0 };
        let is_enough = before > 0 && after > 0 && rarest / weights.len() as f64 <= level;
        is_enough.then_some(Self { weights, factor, degrees_of_freedom: runs as f64 - 1.0 })
    }
}

/// Each round the one way or the other. The first keeps its sign: the mirrored relabelling says the same.
fn signs(rounds: usize) -> Vec<Vec<f64>> {
    let sign = |is_turned: bool| if is_turned { -1.0 } else { 1.0 };
    if (1..=13).contains(&rounds) {
        let is_turned = |bits: usize, at: usize| at > 0 && bits >> (at - 1) & 1 == 1;
        let of = |bits: usize| (0..rounds).map(|at| sign(is_turned(bits, at))).collect();
        return (0..1 << (rounds - 1)).map(of).collect();
    }
    let coin = |number: usize| {
        let number = u32::try_from(number).unwrap_or(u32::MAX);
        shuffled(u64::from(number), number, 2)[0] == 1
    };
    let drawn = |number: usize| {
        (0..rounds).map(|at| sign(number > 0 && coin(number * rounds + at))).collect()
    };
    (0..MAX_RELABELLINGS).map(drawn).collect()
}

/// Which of all runs are those of the second side.
fn halves(before: usize, after: usize) -> Vec<Vec<f64>> {
    let all = before + after;
    let of = |chosen: &[usize]| {
        (0..all).map(|run| if chosen.contains(&run) { 1.0 } else { 0.0 }).collect::<Vec<f64>>()
    };
    let as_it_was: Vec<usize> = (before..all).collect();
    let mut chosen = vec![of(&as_it_was)];
    if ways(all, after) <= MAX_RELABELLINGS {
        let mut choice: Vec<usize> = (0..after).collect();
        while choice != as_it_was {
            chosen.push(of(&choice));
            next_choice(&mut choice, all);
        }
        return chosen;
    }
    let drawn = (1..MAX_RELABELLINGS).map(|number| {
        let number = u32::try_from(number).unwrap_or(u32::MAX);
        of(&shuffled(u64::from(number), number, all)[..after])
    });
    chosen.extend(drawn);
    chosen
}

/// Binomial coefficient, at least of numbers that matter here.
fn ways(all: usize, chosen: usize) -> usize {
    let step = |ways: usize, at: usize| ways.saturating_mul(all - at) / (at + 1);
    (0..chosen.min(all - chosen)).fold(1, step)
}

/// In the order of dictionaries; the last one has the largest numbers.
fn next_choice(choice: &mut [usize], all: usize) {
    let chosen = choice.len();
    let Some(at) = (0..chosen).rev().find(|at| choice[*at] < all - chosen + at) else { return };
    choice[at] += 1;
    for later in at + 1..chosen {
        choice[later] = choice[later - 1] + 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_relabelling_is_there_once_and_the_first_is_that_of_the_runs() {
        fn check(sides: [usize; 2], pairing: RunPairing, count: usize, first: &[f64]) {
            let found = Relabellings::of(sides, pairing, 1.0).unwrap();
            assert_eq!(found.weights.len(), count, "{sides:?}");
            assert_eq!(found.weights[0], first);
            let mut distinct = found.weights.clone();
            distinct.sort_by(|one, other| one.partial_cmp(other).unwrap());
            distinct.dedup();
            assert_eq!(distinct.len(), count, "{sides:?}");
        }
        check([3, 3], RunPairing::Rounds, 4, &[1.0; 3]);
        check([2, 3], RunPairing::None, 10, &[0.0, 0.0, 1.0, 1.0, 1.0]);
        check([4, 4], RunPairing::None, 70, &[0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0]);
        let many = Relabellings::of([20, 20], RunPairing::Rounds, 0.05).unwrap();
        assert_eq!((many.weights.len(), &many.weights[0][..]), (4096, &[1.0; 20][..]));
        assert_ne!(many.weights[1], many.weights[2]);
    }

    #[test]
    fn too_few_runs_say_nothing() {
        let is_enough = |sides, pairing| Relabellings::of(sides, pairing, 0.05).is_some();
        assert!(is_enough([6, 6], RunPairing::Rounds) && !is_enough([5, 5], RunPairing::Rounds));
        assert!(is_enough([4, 4], RunPairing::None) && !is_enough([3, 3], RunPairing::None));
        assert!(is_enough([2, 9], RunPairing::None) && !is_enough([1, 9], RunPairing::None));
        assert!(!is_enough([0, 9], RunPairing::None) && !is_enough([0, 0], RunPairing::Rounds));
    }
}
