//! Relabellings of runs: the ways in which runs could belong to the two sides.

use rabbitscope_runs::experiment::shuffled;

/// Limit of relabellings, the number for 13 rounds. If there are fewer, all of them are tried.
const MAX_RELABELLINGS: usize = 4096;

/// The pairing of the runs of both sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunPairing {
    /// One run of each side was made in the same round, in a random order.
    Rounds,
    /// The runs are not paired.
    None,
}

/// Weights for sums over the values of the runs; the first relabelling is the original one. Values are differences of
/// rounds, or the values of all runs minus their mean.
pub(super) struct Relabellings {
    pub(super) weights: Vec<Vec<f64>>,
    /// Factor that turns the squared sum into the part of the sum of squares between the sides, and the sum into the
    /// difference of the means.
    pub(super) factor: f64,
    pub(super) degrees_of_freedom: f64,
}

impl Relabellings {
    /// Returns the relabellings; absent if even the rarest of them is not significant at `level`.
    pub(super) fn new(
        [before, after]: [usize; 2],
        pairing: RunPairing,
        level: f64,
    ) -> Option<Self> {
        let (weights, factor, runs) = match pairing {
            RunPairing::Rounds => (signs(before), 1.0 / before as f64, before),
            RunPairing::None => {
                let factor = 1.0 / before as f64 + 1.0 / after as f64;
                (halves(before, after), factor, (before + after).saturating_sub(1))
            }
        };
        // The mirrored relabelling is as rare.
        let rarest = if before == after && pairing == RunPairing::None { 2.0 } else { 1.0 };
        let is_enough = before > 0 && after > 0 && rarest / weights.len() as f64 <= level;
        is_enough.then_some(Self { weights, factor, degrees_of_freedom: runs as f64 - 1.0 })
    }
}

/// Signs of each round. The first round keeps its sign, because the mirrored relabelling has the same statistic.
fn signs(rounds: usize) -> Vec<Vec<f64>> {
    let sign = |is_turned: bool| if is_turned { -1.0 } else { 1.0 };
    if (1..=13).contains(&rounds) {
        let is_turned = |bits: usize, round: usize| round > 0 && bits >> (round - 1) & 1 == 1;
        let signs_of =
            |bits: usize| (0..rounds).map(|round| sign(is_turned(bits, round))).collect();
        return (0..1 << (rounds - 1)).map(signs_of).collect();
    }
    let coin = |number: usize| {
        let number = u32::try_from(number).unwrap_or(u32::MAX);
        shuffled(u64::from(number), number, 2)[0] == 1
    };
    let drawn = |number: usize| {
        (0..rounds).map(|round| sign(number > 0 && coin(number * rounds + round))).collect()
    };
    (0..MAX_RELABELLINGS).map(drawn).collect()
}

/// Choices of the runs of the second side.
fn halves(before: usize, after: usize) -> Vec<Vec<f64>> {
    let all = before + after;
    let indicator = |chosen: &[usize]| {
        (0..all).map(|run| if chosen.contains(&run) { 1.0 } else { 0.0 }).collect::<Vec<f64>>()
    };
    let original: Vec<usize> = (before..all).collect();
    let mut chosen = vec![indicator(&original)];
    if ways(all, after) <= MAX_RELABELLINGS {
        let mut choice: Vec<usize> = (0..after).collect();
        while choice != original {
            chosen.push(indicator(&choice));
            next_choice(&mut choice, all);
        }
        return chosen;
    }
    let drawn = (1..MAX_RELABELLINGS).map(|number| {
        let number = u32::try_from(number).unwrap_or(u32::MAX);
        indicator(&shuffled(u64::from(number), number, all)[..after])
    });
    chosen.extend(drawn);
    chosen
}

/// The binomial coefficient, exact for the numbers of runs that occur.
fn ways(all: usize, chosen: usize) -> usize {
    let step = |ways: usize, taken: usize| ways.saturating_mul(all - taken) / (taken + 1);
    (0..chosen.min(all - chosen)).fold(1, step)
}

/// Advances to the next choice in lexicographic order. The last one has the largest numbers.
fn next_choice(choice: &mut [usize], all: usize) {
    let chosen = choice.len();
    let Some(index) = (0..chosen).rev().find(|index| choice[*index] < all - chosen + index) else {
        return;
    };
    choice[index] += 1;
    for later in index + 1..chosen {
        choice[later] = choice[later - 1] + 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_relabelling_is_there_once_and_the_first_is_that_of_the_runs() {
        fn check(sides: [usize; 2], pairing: RunPairing, count: usize, first: &[f64]) {
            let found = Relabellings::new(sides, pairing, 1.0).unwrap();
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
        let many = Relabellings::new([20, 20], RunPairing::Rounds, 0.05).unwrap();
        assert_eq!((many.weights.len(), &many.weights[0][..]), (4096, &[1.0; 20][..]));
        assert_ne!(many.weights[1], many.weights[2]);
    }

    #[test]
    fn too_few_runs_say_nothing() {
        let is_enough = |sides, pairing| Relabellings::new(sides, pairing, 0.05).is_some();
        assert!(is_enough([6, 6], RunPairing::Rounds) && !is_enough([5, 5], RunPairing::Rounds));
        assert!(is_enough([4, 4], RunPairing::None) && !is_enough([3, 3], RunPairing::None));
        assert!(is_enough([2, 9], RunPairing::None) && !is_enough([1, 9], RunPairing::None));
        assert!(!is_enough([0, 9], RunPairing::None) && !is_enough([0, 0], RunPairing::Rounds));
    }
}
