//! A load compared with itself, and with others.

use rabbitscope_runs::{Draws, Random};

use super::{
    exponential,
    talk::{MILLIS, Owned, SECOND, Talk},
};
use crate::{Measurements, Topology, Verdict, compare, model};

/// A load of known figures.
#[derive(Clone, Copy)]
struct Load {
    seed: u64,
    /// Milliseconds between messages of a timer.
    gap: u64,
    bytes: u64,
    prefetch: u16,
    processing: u64,
    seconds: u64,
}

const SOURCE: Load =
    Load { seed: 1, gap: 20, bytes: 1_000, prefetch: 20, processing: 10, seconds: 40 };

/// A timer, independent messages to the same queue, and a consumer of another queue.
fn talk(load: Load) -> Talk {
    let mut talk = Talk::default();
    let mut random = Random::new(load.seed);
    let timer = talk.connection(0, true);
    let mut at = load.gap * MILLIS;
    while at < load.seconds * SECOND {
        talk.publish(at + random.below(50_000), timer, ("", "timer"), load.bytes);
        at += load.gap * MILLIS;
    }
    let independent = talk.connection(0, true);
    let mut at = exponential(&mut random, 10 * MILLIS);
    while at < load.seconds * SECOND {
        let bytes = if random.below(10) < 6 { 512 } else { 100 + random.below(4_000) };
        talk.publish(at, independent, ("", "independent"), bytes);
        at += exponential(&mut random, 10 * MILLIS);
    }
    let consumer = talk.connection(0, true);
    talk.client(1, consumer, Owned::Qos(load.prefetch, false));
    talk.client(2, consumer, Owned::Consume("work".to_owned(), "c".to_owned(), false));
    for number in 1..load.seconds * 20 {
        let at = number * 50 * MILLIS;
        talk.deliver(at, consumer, "c", number);
        let done = at + load.processing * MILLIS + random.below(100_000);
        let ack = rabbitscope_wire::activity::Settlement::Ack;
        talk.client(done, consumer, Owned::Settle(number, false, ack));
    }
    talk
}

fn measured(load: Load) -> Measurements {
    let mut flows = talk(load).observed().finish();
    let model = model(&mut flows, Topology::default());
    Measurements::from_model(&model, &flows)
}

/// Returns the groups and the figures that differ.
fn different(load: Load) -> Vec<(String, &'static str)> {
    let likeness = compare(&measured(SOURCE), &measured(load));
    let figures = likeness.figures(Verdict::Differs).into_iter();
    figures.map(|(group, figure)| (group.to_owned(), figure)).collect()
}

#[test]
fn a_load_is_like_itself_with_another_seed() {
    for seed in 2..8 {
        let found = different(Load { seed, ..SOURCE });
        assert!(found.is_empty(), "seed {seed}: {found:?}");
    }
}

#[test]
fn a_difference_of_a_fifth_is_found_in_its_group_only() {
    // Groups are sorted by their queues.
    let check = |load: Load, group: &str, figure: &str| {
        let found = different(load);
        assert!(
            found.iter().any(|(of, found)| (of.as_str(), *found) == (group, figure)),
            "{found:?}"
        );
        assert!(found.iter().all(|(of, _)| of == group), "{found:?}");
    };
    for seed in 11..14 {
        let other = Load { seed, ..SOURCE };
        check(Load { gap: 24, ..other }, "publishers-2", "rate");
        check(Load { gap: 16, ..other }, "publishers-2", "gaps");
        check(Load { bytes: 1_200, ..other }, "publishers-2", "sizes");
        check(Load { prefetch: 24, ..other }, "consumers-1", "prefetch");
        check(Load { processing: 13, ..other }, "consumers-1", "processing p50");
    }
}

#[test]
fn properties_are_compared_by_their_shares() {
    let measured = |seed, messages: u64, high: f64| {
        let mut talk = Talk::default();
        let connection = talk.connection(0, true);
        let draws = Draws::new(Random::new(seed), &[1.0 - high, high]);
        for number in 0..messages {
            let priority = if draws.choice(number) == 1 { 9 } else { 1 };
            let (exchange, key) = (String::new(), "q".to_owned());
            let properties = super::talk::properties(priority, 1, 40);
            let publish = Owned::Publish { exchange, key, bytes: 10, properties };
            talk.client(number * 10 * MILLIS, connection, publish);
        }
        let mut flows = talk.observed().finish();
        let model = model(&mut flows, Topology::default());
        Measurements::from_model(&model, &flows)
    };
    let verdict = |run: &Measurements, messages| {
        let likeness = compare(&measured(1, messages, 0.3), run);
        let verdicts = [Verdict::Alike, Verdict::NotJudged, Verdict::Differs];
        let is = |verdict: &Verdict| {
            likeness.figures(*verdict).contains(&("publishers-1", "properties"))
        };
        verdicts.into_iter().find(is)
    };
    for seed in 2..8 {
        assert_eq!(verdict(&measured(seed, 3_000, 0.3), 3_000), Some(Verdict::Alike), "{seed}");
        assert_eq!(verdict(&measured(seed, 3_000, 0.4), 3_000), Some(Verdict::Differs), "{seed}");
        assert_eq!(verdict(&measured(seed, 60, 0.3), 60), Some(Verdict::NotJudged), "{seed}");
    }
}

#[test]
fn keys_are_compared_by_their_shares() {
    let measured = |seed, messages: u64, weights: &[f64]| {
        let mut talk = Talk::default();
        let connection = talk.connection(0, true);
        let draws = Draws::new(Random::new(seed), weights);
        for number in 0..messages {
            let key = format!("k.{}", draws.choice(number));
            talk.publish(number * 10 * MILLIS, connection, ("amq.topic", &key), 100);
        }
        let mut flows = talk.observed().finish();
        let model = model(&mut flows, Topology::default());
        Measurements::from_model(&model, &flows)
    };
    let verdict = |run: &Measurements, messages| {
        let likeness = compare(&measured(1, messages, &[5.0, 3.0, 1.0, 1.0]), run);
        let verdicts = [Verdict::Alike, Verdict::NotJudged, Verdict::Differs];
        let is = |verdict: &Verdict| likeness.figures(*verdict).contains(&("publishers-1", "keys"));
        verdicts.into_iter().find(is)
    };
    for seed in 2..8 {
        let same = measured(seed, 3_000, &[5.0, 3.0, 1.0, 1.0]);
        assert_eq!(verdict(&same, 3_000), Some(Verdict::Alike), "seed {seed}");
        let even = measured(seed, 3_000, &[1.0, 1.0, 1.0, 1.0]);
        assert_eq!(verdict(&even, 3_000), Some(Verdict::Differs), "seed {seed}");
    }
    let few = measured(2, 300, &[5.0, 3.0, 1.0, 1.0]);
    assert_eq!(verdict(&few, 300), Some(Verdict::NotJudged));
}

#[test]
fn too_few_messages_are_not_judged() {
    let likeness = compare(&measured(SOURCE), &measured(Load { seed: 2, ..SOURCE }));
    let open = likeness.figures(Verdict::NotJudged);
    // 4,000 independent messages: the rate needs 8,500.
    assert!(open.contains(&("publishers-1", "rate")), "{}", likeness.text());
    assert_eq!(likeness.verdict(), Verdict::Alike);
    let text = likeness.text();
    assert!(text.contains("not judged: ") && text.contains("alike, as far as judged"), "{text}");
    let few = Load { seconds: 12, ..SOURCE };
    let likeness = compare(&measured(few), &measured(Load { seed: 5, ..few }));
    assert!(likeness.figures(Verdict::Differs).is_empty(), "{}", likeness.text());
}

#[test]
fn a_group_that_the_run_lacks_differs() {
    let source = measured(SOURCE);
    let flows = Talk::default().observed().finish();
    let (_, scenario) = talk(SOURCE).scenario();
    let likeness = compare(&source, &Measurements::from_run(&flows, &source, &scenario));
    assert_eq!(likeness.different_groups(), ["consumers-1", "publishers-1", "publishers-2"]);
    assert!(likeness.text().contains("not in the run"), "{}", likeness.text());
}

#[test]
fn the_file_keeps_the_figures() {
    let source = measured(SOURCE);
    let text = source.to_json();
    assert_eq!(Measurements::from_json(&text).unwrap(), source);
    assert!(text.len() < 40_000, "{}", text.len());
    for name in ["timer", "independent", "work", "pika"] {
        assert!(!text.contains(name), "{name}");
    }
    let later = text.replace("\"format-version\":1", "\"format-version\":2");
    let error = Measurements::from_json(&later).unwrap_err().to_string();
    assert!(error.contains("format-version is 2"), "{error}");
    assert!(Measurements::from_json("{}").is_err());
}

#[test]
fn cpu_times_are_judged_by_their_noise() {
    let with_cpu = |seconds: &dyn Fn(u64) -> f64, count: u64| {
        let mut measured = measured(SOURCE);
        measured.add_costs(None, (0..count).map(seconds).collect());
        measured
    };
    let steady = |factor: f64| move |second: u64| factor * (0.2 + 0.01 * (second % 3) as f64);
    let drifting = |second: u64| if second < 20 { 0.2 } else { 0.35 };
    let check = |run: &Measurements, expected: Option<Verdict>| {
        let likeness = compare(&with_cpu(&steady(1.0), 40), run);
        let verdicts = [Verdict::Alike, Verdict::NotJudged, Verdict::Differs];
        let figure = ("load", "CPU a message");
        let found =
            verdicts.into_iter().find(|verdict| likeness.figures(*verdict).contains(&figure));
        assert_eq!(found, expected, "{}", likeness.text());
        likeness
    };
    check(&with_cpu(&steady(1.0), 40), Some(Verdict::NotJudged));
    check(&with_cpu(&steady(1.2), 40), Some(Verdict::NotJudged));
    check(&with_cpu(&steady(1.3), 40), Some(Verdict::Differs));
    check(&with_cpu(&drifting, 40), Some(Verdict::NotJudged));
    let brief = check(&with_cpu(&steady(1.2), 11), None);
    assert!(brief.text().contains("it takes 15 s of both"));
}

#[test]
fn depths_are_compared_where_both_nodes_tell_them() {
    let with_depth = |depth: &dyn Fn(u64) -> u64, seconds: u64| {
        let mut measured = measured(SOURCE);
        measured.add_depths((0..seconds).map(depth).collect());
        measured
    };
    let check = |run: &Measurements, expected: Option<Verdict>| {
        let likeness = compare(&with_depth(&|second| 500 + second % 20, 60), run);
        let verdicts = [Verdict::Alike, Verdict::NotJudged, Verdict::Differs];
        let figure = ("load", "ready messages");
        let found =
            verdicts.into_iter().find(|verdict| likeness.figures(*verdict).contains(&figure));
        assert_eq!(found, expected, "{}", likeness.text());
        likeness
    };
    check(&with_depth(&|second| 495 + second % 30, 60), Some(Verdict::Alike));
    check(&with_depth(&|_| 900, 60), Some(Verdict::Differs));
    // A queue that grows has no depth of its own.
    check(&with_depth(&|second| 20 * second, 60), Some(Verdict::NotJudged));
    check(&with_depth(&|_| 0, 60), Some(Verdict::Differs));
    assert!(check(&with_depth(&|_| 500, 20), None).text().contains("26 s of both"));
    assert!(check(&measured(SOURCE), None).text().contains("keep statistics"));
    // Some messages depend on the moment.
    let few = compare(&with_depth(&|_| 3, 60), &with_depth(&|_| 9, 60));
    assert!(few.figures(Verdict::Alike).contains(&("load", "ready messages")), "{}", few.text());
}

/// Returns a publisher that fills its window of 50, on a broker that answers after this time in microseconds.
fn flood(answer_micros: u64) -> Measurements {
    let mut talk = Talk::default();
    let connection = talk.connection(0, true);
    talk.client(1, connection, Owned::Select);
    let (mut random, mut at, mut sent) = (Random::new(answer_micros), 10, 0);
    while at < 20 * SECOND {
        (0..50).for_each(|_| talk.publish(at, connection, ("", "a"), 100));
        sent += 50;
        at += answer_micros * 1_000 + random.below(500_000);
        talk.confirm(at, connection, sent, true);
        at += 20_000;
    }
    let mut flows = talk.observed().finish();
    let model = model(&mut flows, Topology::default());
    Measurements::from_model(&model, &flows)
}

/// Machine and broker differ from run to run.
#[test]
fn one_run_does_not_judge_the_speed_of_a_closed_loop() {
    let source = flood(10_000);
    for (answer_micros, expected) in
        [(10_000, Verdict::NotJudged), (11_500, Verdict::NotJudged), (16_000, Verdict::Differs)]
    {
        let likeness = compare(&source, &flood(answer_micros));
        let found = likeness.figures(expected);
        let has_rate = found.iter().any(|(_, figure)| *figure == "rate");
        assert!(has_rate, "{answer_micros}: {found:?}");
    }
}
