//! Comparisons of sets of runs. Runs of the same thing differ by more than sampling here, as real ones do.

use rabbitscope_profiles::{Profile, read_folded};

use super::*;

struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.0 >> 33) % limit
    }
}

/// A run of some 140,000 samples in 60 functions. In every run each function's share varies by up to a tenth; `first`
/// is the percentage of the first function's.
fn run(random: &mut Random, first: u64) -> Profile {
    let line = |function: u64| {
        let usual = 10_000 / (1 + function / 4);
        let of_run = usual * (900 + random.below(200)) / 1_000;
        let percent = if function == 0 { first } else { 100 };
        let weight = 1 + of_run * percent / 100;
        format!("scheduler;m:loop/{};m:f{function}/0 {weight}\n", function % 5)
    };
    let lines: Vec<String> = (0..60).map(line).collect();
    read_folded(lines.concat().as_bytes()).unwrap()
}

fn side(random: &mut Random, runs: usize, first: u64) -> Vec<Profile> {
    (0..runs).map(|_| run(random, first)).collect()
}

fn compared(before: &[Profile], after: &[Profile], pairing: RunPairing) -> ProfileDiff {
    ProfileDiff::of_runs(RunProfiles { before, after, pairing }).unwrap().0
}

/// Returns the number of comparisons, of 100, with any mark.
fn marked([before, after]: [usize; 2], pairing: RunPairing) -> usize {
    let mut random = Random(3);
    let is_marked = |random: &mut Random| {
        let (before, after) = (side(random, before, 100), side(random, after, 100));
        compared(&before, &after, pairing).changes.iter().any(Change::is_beyond_noise)
    };
    (0..100).filter(|_| is_marked(&mut random)).count()
}

#[test]
fn runs_of_the_same_thing_are_marked_no_more_often_than_is_said() {
    let designs = [
        ([8, 8], RunPairing::Rounds),
        ([11, 11], RunPairing::Rounds),
        ([5, 5], RunPairing::None),
        ([4, 9], RunPairing::None),
    ];
    let found = designs.map(|(counts, pairing)| marked(counts, pairing));
    // The expected 5 % of 400, and two standard errors.
    assert!(found.iter().sum::<usize>() <= 28, "{found:?} of 100 each");
}

#[test]
fn the_noise_of_sampling_alone_would_mark_the_same_runs() {
    let mut random = Random(3);
    let (before, after) = (side(&mut random, 8, 100), side(&mut random, 8, 100));
    let runs = RunProfiles { before: &before, after: &after, pairing: RunPairing::None };
    let (diff, merged) = ProfileDiff::of_runs(runs).unwrap();
    assert!(!diff.changes.iter().any(Change::is_beyond_noise));
    let ComparedNoise::BetweenRuns { counts, overdispersion, .. } = diff.noise else { panic!() };
    assert_eq!(counts, [8, 8]);
    assert!(overdispersion > 2.0, "{overdispersion}");
    let by_sampling = ProfileDiff::between(&merged[0], &merged[1]).unwrap();
    assert!(by_sampling.changes.iter().any(Change::is_beyond_noise));
}

#[test]
fn a_change_that_every_run_has_is_named_first() {
    for pairing in [RunPairing::Rounds, RunPairing::None] {
        let mut random = Random(7);
        let (before, after) = (side(&mut random, 10, 100), side(&mut random, 10, 130));
        let diff = compared(&before, &after, pairing);
        let named: Vec<&str> = diff
            .changes
            .iter()
            .filter(|change| change.is_beyond_noise())
            .map(|change| change.name.as_str())
            .collect();
        assert_eq!(named.first(), Some(&"m:f0/0"), "{named:?}");
        assert!(named.len() < 6, "{named:?}");
    }
}

#[test]
fn too_few_runs_and_different_events_are_refused() {
    let mut random = Random(1);
    let runs = side(&mut random, 3, 100);
    let few = RunProfiles { before: &runs, after: &runs, pairing: RunPairing::None };
    let refused = ProfileDiff::of_runs(few).unwrap_err();
    assert_eq!(refused, DiffError::TooFewRuns { counts: [3, 3] });
    let mut others = side(&mut random, 6, 100);
    others[2].event = rabbitscope_profiles::Event::OffCpu;
    let runs = side(&mut random, 6, 100);
    let mixed = RunProfiles { before: &runs, after: &others, pairing: RunPairing::Rounds };
    let refused = ProfileDiff::of_runs(mixed).unwrap_err();
    assert!(matches!(refused, DiffError::Events { .. }), "{refused}");
}
