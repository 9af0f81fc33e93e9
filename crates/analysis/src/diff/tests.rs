//! Comparisons of two profiles, with planted changes and without.

use rabbitscope_profiles::{Sample, read_folded};

use rabbitscope_profiles::{Event, Profile};

use super::{comparison::SCALE, *};

fn diff(before: &str, after: &str) -> ProfileDiff {
    let read = |text: &str| read_folded(text.as_bytes()).unwrap();
    ProfileDiff::between(&read(before), &read(after)).unwrap()
}

#[test]
fn shares_are_compared_and_not_weights() {
    let diff = diff("s;m:f/1 50\ns;m:g/1 50", "s;m:f/1 150\ns;m:g/1 50");
    let change = |name: &str| diff.changes.iter().find(|change| change.name == name).unwrap();
    assert!((change("m:f/1").own_change - 0.25).abs() < 1e-12);
    assert!((change("m:g/1").own_change + 0.25).abs() < 1e-12);
    assert!(change("s").total_change.abs() < 1e-12);
}

#[test]
fn what_is_in_one_profile_only_stays_in_the_tree() {
    let diff = diff("s;m:gone/1;m:gone/1 10\ns;m:f/1 30", "s;m:f/1 20\ns;m:new/0 60");
    let named = diff.tree.nodes.iter().zip(&diff.leaves).map(|(node, leaf)| {
        (diff.frames.get(node.frame).name.as_str(), node.repeat, leaf.before, leaf.after)
    });
    let mut named: Vec<_> = named.collect();
    named.sort_unstable();
    let expected =
        [("m:f/1", 1, 30, 20), ("m:gone/1", 2, 10, 0), ("m:new/0", 1, 0, 60), ("s", 1, 0, 0)];
    assert_eq!(named, expected);
    assert_eq!(diff.tree.nodes[0].total, 2 * SCALE);
    assert_eq!(diff.changes[0].name, "m:new/0");
}

#[test]
fn what_cannot_be_compared_is_refused() {
    let some = read_folded("a 1".as_bytes()).unwrap();
    let none = read_folded("".as_bytes()).unwrap();
    assert_eq!(
        ProfileDiff::between(&some, &none).unwrap_err(),
        DiffError::Empty { which: "second" }
    );
    assert_eq!(
        ProfileDiff::between(&none, &some).unwrap_err(),
        DiffError::Empty { which: "first" }
    );
}

/// Stacks of alpha, beta and gamma with these weights, which call the same worker.
fn shared_worker(weights: [u32; 3]) -> String {
    let [alpha, beta, gamma] = weights;
    format!(
        "scheduler;m:loop/0;m:alpha/1;m:work/1;erts_work {alpha}\n\
         scheduler;m:loop/0;m:beta/1;m:work/1;erts_work {beta}\n\
         scheduler;m:loop/0;m:gamma/1;m:work/1;erts_work {gamma}"
    )
}

fn first_of(before: &str, after: &str) -> (String, bool, bool) {
    let diff = diff(before, after);
    let first = &diff.changes[0];
    let is_beyond = |evidence| evidence == Evidence::BeyondNoise;
    (first.name.clone(), is_beyond(first.own_evidence), is_beyond(first.total_evidence))
}

/// All own shares stay the same.
#[test]
fn the_caller_of_what_others_call_too_is_named_first() {
    let (before, after) = (shared_worker([600, 300, 100]), shared_worker([300, 300, 100]));
    assert_eq!(first_of(&before, &after), ("m:alpha/1".to_owned(), false, true));
}

#[test]
fn what_moved_by_itself_is_named_before_its_callers() {
    let stacks = |alpha: u32, native: u32| {
        format!(
            "scheduler;m:loop/0;m:alpha/1 {alpha}\nscheduler;m:loop/0;m:beta/1;erts_x {native}\n\
             scheduler;m:loop/0;m:gamma/1 100\nscheduler;erts_schedule 500"
        )
    };
    // The total of loop/0 moves as much as those of both.
    let own = first_of(&stacks(600, 300), &stacks(300, 300));
    assert_eq!(own, ("m:alpha/1".to_owned(), true, true));
    // Native code ran for beta/1.
    let native = first_of(&stacks(300, 600), &stacks(300, 200));
    assert_eq!(native, ("m:beta/1".to_owned(), true, true));
}

#[test]
fn native_functions_are_judged_too() {
    let stacks = |one: u32, other: u32| {
        format!("aux;start_thread;poll {one}\naux;start_thread;write_[k] {other}")
    };
    let diff = diff(&stacks(500, 500), &stacks(300, 700));
    let named: Vec<(&str, bool)> = diff
        .changes
        .iter()
        .map(|change| (change.name.as_str(), change.is_beyond_noise()))
        .collect();
    assert_eq!(named, [("poll", true), ("write", true), ("start_thread", false)]);
    assert_eq!(diff.comparisons, 6);
}

/// A deterministic random number generator.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.0 >> 33) % limit
    }
}

/// A profile of 400 stacks of up to twelve functions. Many stacks share the outer functions, so that total shares
/// depend on each other. A few stacks are common, many are rare.
fn stacks_of_a_node(random: &mut Random) -> Profile {
    let line = |number: u64| {
        let functions: Vec<String> = (0..=number % 12)
            .map(|depth| format!(";m{}:f{depth}/0", (number >> depth) % (2 << depth)))
            .collect();
        format!("scheduler{} {}", functions.concat(), 1 + 4_000 / (1 + number / 64))
    };
    let lines: Vec<String> = (0..400).map(|_| line(random.below(8192))).collect();
    read_folded(lines.join("\n").as_bytes()).unwrap()
}

/// The weight of a sample.
type Weight = fn(&mut Random) -> u64;

/// Draws this many samples from a profile, one after another in 200 steps of time. Without `weight` the event is CPU
/// time, otherwise time off the CPU.
fn drawn(profile: &Profile, count: u64, random: &mut Random, weight: Option<Weight>) -> Profile {
    let ends: Vec<u64> = profile
        .samples
        .iter()
        .scan(0, |sum, sample| {
            *sum += sample.weight;
            Some(*sum)
        })
        .collect();
    let mut drawn = profile.clone();
    drawn.event = if weight.is_some() { Event::OffCpu } else { Event::Cpu };
    for sample in &mut drawn.samples {
        (sample.weight, sample.count) = (0, 0);
    }
    for number in 0..count {
        let position = random.below(profile.total());
        let sample = &mut drawn.samples[ends.partition_point(|&end| end <= position)];
        let weight = weight.map_or(1, |weight| weight(random));
        sample.weight += weight;
        sample.count += 1;
        sample.times.add(u32::try_from(number * 200 / count).unwrap(), weight);
    }
    drawn.samples.retain(|sample: &Sample| sample.count > 0);
    drawn
}

/// Returns the number of pairs, drawn from the same profile, with any mark.
fn marked(tries: usize, family_rate: f64, counts: [u64; 2], weight: Option<Weight>) -> usize {
    let mut random = Random(11);
    let node = stacks_of_a_node(&mut random);
    let is_marked = |random: &mut Random| {
        let [before, after] = counts.map(|count| drawn(&node, count, random, weight));
        let diff = ProfileDiff::at_rate(&before, &after, family_rate).unwrap();
        diff.changes.iter().any(Change::is_beyond_noise)
    };
    (0..tries).filter(|_| is_marked(&mut random)).count()
}

#[test]
fn a_thing_against_itself_is_marked_no_more_often_than_is_said() {
    assert_eq!(marked(20, FAMILY_ERROR_RATE, [3_000; 2], None), 0);
    // A rate above one in a thousand, so that errors show in a test: 10 of 100 are allowed.
    assert!(marked(100, 0.1, [1_000; 2], None) <= 10);
    assert!(marked(100, 0.1, [200, 5_000], None) <= 10);
}

/// Weights of waits and allocations: most are small, and one in sixteen weighs as much as all others.
#[test]
fn so_it_is_where_samples_weigh_differently() {
    let weight: Weight =
        |random| if random.below(16) == 0 { 15_000 } else { 1 + random.below(2_000) };
    assert_eq!(marked(20, FAMILY_ERROR_RATE, [3_000; 2], Some(weight)), 0);
    let found = marked(100, 0.1, [3_000; 2], Some(weight));
    assert!(found <= 10, "{found}");
}

/// The change is real, in pieces of similar size.
#[test]
fn changes_of_waiting_time_are_found() {
    let mut random = Random(5);
    let profile = |folded: &str, random: &mut Random| {
        let profile = read_folded(folded.as_bytes()).unwrap();
        drawn(&profile, 2_000, random, Some(|random| 500 + random.below(1_000)))
    };
    let before = profile("s;m:a/0;x 60\ns;m:b/0;x 30\ns;m:c/0;x 10", &mut random);
    let after = profile("s;m:a/0;x 30\ns;m:b/0;x 30\ns;m:c/0;x 10", &mut random);
    let diff = ProfileDiff::between(&before, &after).unwrap();
    assert_eq!(diff.changes[0].name, "m:a/0");
    assert!(diff.changes[0].is_beyond_noise());
}
