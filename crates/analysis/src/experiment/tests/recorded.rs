//! Comparisons of equal arms, from real runs. `recorded.csv` has the 30 runs of the baseline and of the control of
//! `experiments/02-routing.toml`, in their original order, from a shared machine of two CPUs.

use super::simulation::Random;
use crate::experiment::SignedRank;

const RUNS: &str = include_str!("recorded.csv");

/// Number of drawn comparisons.
const COMPARISONS: usize = 200;

/// Logarithms of a column, in the order of the runs.
fn column(name: &str) -> Vec<f64> {
    let mut lines = RUNS.lines();
    let index = lines.next().unwrap().split(',').position(|title| title == name).unwrap();
    let value = |line: &str| line.split(',').nth(index).unwrap().parse::<f64>().unwrap().ln();
    lines.map(value).collect()
}

/// Returns the number of comparisons with this many rounds that find a difference at 5 %. A round is two consecutive
/// runs in random order; `effect` is added to the second.
fn called(values: &[f64], rounds: usize, effect: f64) -> usize {
    let mut random = Random::new(17);
    let mut comparison = || {
        let start = random.below(values.len() - 2 * rounds + 1);
        let pairs = values[start..start + 2 * rounds].chunks(2);
        let differences = pairs.map(|pair| {
            let (one, other) = if random.below(2) == 0 { (0, 1) } else { (1, 0) };
            pair[other] + effect - pair[one]
        });
        let differences: Vec<f64> = differences.collect();
        SignedRank::new(&differences).p_value().is_some_and(|p| p <= 0.05)
    };
    (0..COMPARISONS).filter(|_| comparison()).count()
}

#[test]
fn real_runs_of_a_thing_against_itself_differ_in_five_percent() {
    for metric in ["confirmed.rate", "broker.cpu-per-message"] {
        let values = column(metric);
        assert_eq!(values.len(), 30);
        let found = [6, 10, 15].map(|rounds| called(&values, rounds, 0.0));
        // The expected 5 % of 600, and two standard errors.
        assert!(found.iter().sum::<usize>() <= 40, "{metric}: {found:?} of {COMPARISONS} each");
    }
}

/// The detectable size depends on the machine. On this one, whose runs differ by a tenth, 15 rounds find a fifth.
#[test]
fn a_fifth_more_is_found_among_them() {
    let found = called(&column("confirmed.rate"), 15, 1.2_f64.ln());
    assert!(found >= 160, "{found} of {COMPARISONS}");
}
