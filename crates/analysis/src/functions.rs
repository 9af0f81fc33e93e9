//! Tables of functions, with the weight in each function and below it.

use std::{cmp::Reverse, collections::BTreeMap};

use rabbitscope_profiles::{FrameId, FrameKind, Profile, StackEntry};

/// The weights of one function, in the unit of the profile's event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionRow {
    /// The function.
    pub frame: FrameId,
    /// The function's name.
    pub name: String,
    /// The kind of its frame.
    pub kind: FrameKind,
    /// Weight of all stacks that contain it. Each stack counts once, however deep the function recurses.
    pub total: u64,
    /// Weight of all stacks that end in it.
    pub self_weight: u64,
    /// For an Erlang function or a BIF, the weight of all stacks in which it is the innermost such frame. This includes
    /// native code, kernel code and VM fragments that ran on its behalf. Over all Erlang functions it adds up to the
    /// weight of the stacks with any Erlang frame. For other kinds it equals [`Self::self_weight`].
    pub own: u64,
}

impl FunctionRow {
    /// Returns [`Self::own`] as a share (0 to 1) of `whole`, usually [`Profile::total`].
    pub fn own_share(&self, whole: u64) -> f64 {
        share(self.own, whole)
    }

    /// Returns [`Self::total`] as a share (0 to 1) of `whole`, usually [`Profile::total`].
    pub fn total_share(&self, whole: u64) -> f64 {
        share(self.total, whole)
    }
}

/// Returns the share of `part` in `whole`, 0 to 1; 0 if `whole` is 0.
pub fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// Returns every function in the stacks of `profile`: by the largest [`FunctionRow::own`], then by the largest total,
/// then by name.
pub fn function_table(profile: &Profile) -> Vec<FunctionRow> {
    let mut rows: Vec<FunctionRow> = profile
        .frames
        .iter()
        .map(|(id, frame)| FunctionRow {
            frame: id,
            name: frame.name.clone(),
            kind: frame.kind,
            total: 0,
            self_weight: 0,
            own: 0,
        })
        .collect();
    let mut last_stack = vec![usize::MAX; rows.len()];
    for (number, sample) in profile.samples.iter().enumerate() {
        for entry in &sample.stack {
            let index = entry.frame.0 as usize;
            if last_stack[index] != number {
                last_stack[index] = number;
                rows[index].total += sample.weight;
            }
        }
        add_ends(&mut rows, &sample.stack, sample.weight);
    }
    rows.retain(|row| row.total > 0);
    rows.sort_by(|left, right| {
        let key = |row: &FunctionRow| (Reverse(row.own), Reverse(row.total));
        key(left).cmp(&key(right)).then_with(|| left.name.cmp(&right.name))
    });
    rows
}

/// Credits the function at the end of the stack, and the Erlang function that it works for.
fn add_ends(rows: &mut [FunctionRow], stack: &[StackEntry], weight: u64) {
    let index = |entry: &StackEntry| entry.frame.0 as usize;
    if let Some(leaf) = stack.last().map(index) {
        rows[leaf].self_weight += weight;
        if !rows[leaf].kind.is_erlang_function() {
            rows[leaf].own += weight;
        }
    }
    let innermost = stack.iter().rev().map(index).find(|&row| rows[row].kind.is_erlang_function());
    if let Some(erlang) = innermost {
        rows[erlang].own += weight;
    }
}

/// Returns the weight of each function that samples belong to: the innermost Erlang function, else the innermost of all.
/// Code without a symbol is one function. The weights add up to that of the profile.
pub fn owners_of_samples(profile: &Profile) -> BTreeMap<&str, u64> {
    let mut owners = BTreeMap::new();
    for sample in &profile.samples {
        let frames = || sample.stack.iter().rev().map(|entry| profile.frames.get(entry.frame));
        let erlang = frames().find(|frame| frame.kind.is_erlang_function());
        let Some(owner) = erlang.or_else(|| frames().next()) else { continue };
        let name = if owner.is_unsymbolised() { UNNAMED } else { owner.name.as_str() };
        *owners.entry(name).or_default() += sample.weight;
    }
    owners
}

/// Name of code without a symbol.
const UNNAMED: &str = "code without a symbol";

/// Returns the `count` Erlang functions, including BIFs, with the largest [`FunctionRow::own`].
pub fn hottest(profile: &Profile, count: usize) -> Vec<FunctionRow> {
    let rows = function_table(profile).into_iter();
    rows.filter(|row| row.kind.is_erlang_function()).take(count).collect()
}

#[cfg(test)]
mod tests {
    use rabbitscope_profiles::read_folded;

    use super::*;

    const STACKS: &str = "\
scheduler;m:f/1;m:f/1;m:g/2;global::call_bif;ets_select 5
scheduler;m:f/1;m:g/2;m:f/1 3
scheduler;m:f/1;write_[k] 2
scheduler;schedule 4";

    fn check(name: &str, own: u64, self_weight: u64, total: u64) {
        let profile = read_folded(STACKS.as_bytes()).unwrap();
        let table = function_table(&profile);
        let row = table.iter().find(|row| row.name == name).unwrap();
        assert_eq!((row.own, row.self_weight, row.total), (own, self_weight, total), "{name}");
    }

    #[test]
    fn each_sample_has_one_owner() {
        let profile = read_folded(STACKS.as_bytes()).unwrap();
        let owners: Vec<(&str, u64)> = owners_of_samples(&profile).into_iter().collect();
        assert_eq!(owners, [("m:f/1", 5), ("m:g/2", 5), ("schedule", 4)]);
    }

    #[test]
    fn weights_are_credited() {
        check("m:f/1", 5, 3, 10);
        check("m:g/2", 5, 0, 8);
        check("global::call_bif", 0, 0, 5);
        check("ets_select", 5, 5, 5);
        check("write", 2, 2, 2);
        check("schedule", 4, 4, 4);
        check("scheduler", 0, 0, 14);
    }

    #[test]
    fn the_hottest_come_first() {
        let profile = read_folded(STACKS.as_bytes()).unwrap();
        let names = |count| {
            let rows = hottest(&profile, count);
            rows.into_iter().map(|row| row.name).collect::<Vec<_>>()
        };
        assert_eq!(names(10), ["m:f/1", "m:g/2"]);
        assert_eq!(names(1), ["m:f/1"]);
        assert!(names(0).is_empty());
    }

    #[test]
    fn shares_are_of_the_whole() {
        let profile = read_folded(STACKS.as_bytes()).unwrap();
        let rows = hottest(&profile, 1);
        assert!((rows[0].own_share(profile.total()) - 5.0 / 14.0).abs() < 1e-12);
        assert!((rows[0].total_share(profile.total()) - 10.0 / 14.0).abs() < 1e-12);
        assert!(rows[0].own_share(0).abs() < f64::EPSILON);
    }
}
