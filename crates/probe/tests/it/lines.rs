//! Lines of source with a known share of their function show that share.

use std::collections::BTreeMap;

use rabbitscope_profiles::{LineWeight, Profile};

use crate::bench::{burn, node, record};

const SECONDS: f64 = 4.0;

/// Samples of the functions at which recordings end.
const ENOUGH: u64 = 3_500;
const RECORDINGS: usize = 12;

/// Tolerance of a share in percentage points.
const TOLERANCE: f64 = 3.0;

/// One of a line's weights.
type Weight = fn(&LineWeight) -> u64;

/// The weight of `function` by line, in order of the lines.
fn by_line(profiles: &[Profile], function: &str, weight: Weight) -> Vec<(u32, u64)> {
    let mut found = BTreeMap::new();
    for profile in profiles {
        let is_its = |line: &&LineWeight| profile.frames.get(line.frame).name == function;
        for line in profile.lines.iter().filter(is_its) {
            assert!(line.file.contains("burn"), "{}", line.file);
            *found.entry(line.line).or_default() += weight(line);
        }
    }
    found.into_iter().collect()
}

fn sum(lines: &[(u32, u64)]) -> u64 {
    lines.iter().map(|&(_, weight)| weight).sum()
}

fn record_enough(function: &str, weight: Weight) -> Vec<Profile> {
    let mut profiles = Vec::new();
    while sum(&by_line(&profiles, function, weight)) < ENOUGH {
        assert!(profiles.len() < RECORDINGS, "{:?}", by_line(&profiles, function, weight));
        profiles.push(record(node().pid, SECONDS).unwrap());
    }
    profiles
}

#[track_caller]
fn check_70_20_10(function: &str, weight: Weight) {
    let burner = burn("lines");
    let profiles = record_enough(function, weight);
    let (_, in_function) = burner.weights(&profiles, function);
    assert_eq!(sum(&by_line(&profiles, function, |line| line.total)), in_function);
    let lines = by_line(&profiles, function, weight);
    let all = sum(&lines) as f64;
    let mut heaviest: Vec<(u32, f64)> =
        lines.iter().map(|&(line, weight)| (line, 100.0 * weight as f64 / all)).collect();
    heaviest.retain(|&(_, percent)| percent > 5.0);
    let first = heaviest[0].0;
    assert_eq!(heaviest.len(), 3, "{function}: {lines:?}");
    for ((line, found), (expected_line, expected)) in
        heaviest.into_iter().zip((first..).zip([70.0, 20.0, 10.0]))
    {
        assert_eq!(line, expected_line, "{function}: {lines:?}");
        assert!((found - expected).abs() <= TOLERANCE, "{function}:{line} {found:.1} %");
    }
}

#[test]
fn of_calls() {
    check_70_20_10("burn:calls/0", |line| line.total);
}

#[test]
fn of_the_functions_own_work() {
    check_70_20_10("burn:weave/2", |line| line.own);
}
