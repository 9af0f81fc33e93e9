//! Lines of source whose share of their function is known show that share.

use std::collections::BTreeMap;

use rabbitscope_profiles::{LineWeight, Profile};

use crate::bench::{burn, node, record};

const SECONDS: f64 = 4.0;

/// Recordings go on until the functions have so many samples.
const ENOUGH: u64 = 3_500;
const RECORDINGS: usize = 12;

/// Points by which a share may differ.
const TOLERANCE: f64 = 3.0;

/// Which of a line's weights is looked at.
type Weight = fn(&LineWeight) -> u64;

/// The weight of `function` by line, in order of the lines.
fn by_line(profiles: &[Profile], function: &str, weight: Weight) -> Vec<(u32, u64)> {
    let mut found = BTreeMap::new();
    for profile in profiles {
        let is_its = |it: &&LineWeight| profile.frames.get(it.frame).name == function;
        for it in profile.lines.iter().filter(is_its) {
            assert!(it.file.contains("burn"), "{}", it.file);
            *found.entry(it.line).or_default() += weight(it);
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
