//! Error rates of the statements beside a difference: equivalence, the number of rounds, the recommended value.

use rabbitscope_runs::experiment::{
    ArmFacts, ExperimentResult, Goal, MetricFacts, RunOfArm, SweepAxis, Verdict,
};

use super::simulation::Random;
use crate::experiment::{SignedRank, alpha_of_each_look, conclude, is_decided};

/// Scatter of a round's ratio if rounds agree well.
const SCATTER: f64 = 0.02;

/// Scatter of a round's ratio if rounds agree poorly.
const WIDE: f64 = 0.06;

const INTEREST: f64 = 0.03;

fn experiment(arms: usize, looks: &[u32]) -> ExperimentResult {
    let arm = |number: usize| ArmFacts {
        name: format!("{number}"),
        cell: vec![number],
        ..ArmFacts::default()
    };
    ExperimentResult {
        alpha: alpha_of_each_look(looks),
        looks: looks.to_vec(),
        indifferent: Some(INTEREST),
        arms: (0..arms).map(arm).collect(),
        metrics: vec![MetricFacts::default()],
        ..ExperimentResult::default()
    }
}

/// Adds a round in which each arm has its effect plus random scatter.
fn round(result: &mut ExperimentResult, number: u32, effects: &[f64], random: &mut Random) {
    scattered_round(result, number, effects, (SCATTER, random));
}

fn scattered_round(
    result: &mut ExperimentResult,
    number: u32,
    effects: &[f64],
    (scatter, random): (f64, &mut Random),
) {
    // Pairs scatter more than single runs, by the root of two.
    let luck = scatter / std::f64::consts::SQRT_2;
    result.runs.extend(effects.iter().enumerate().map(|(arm, effect)| RunOfArm {
        round: number,
        arm,
        values: vec![Some((effect + luck * random.normal()).exp())],
        ..RunOfArm::default()
    }));
}

#[test]
fn looks_keep_the_error_rate_of_the_same() {
    const EXPERIMENTS: u32 = 2000;
    let looks = [10, 15, 20];
    // The rates of looks take time to compute, and every experiment has the same looks.
    let mut first = experiment(2, &looks);
    conclude(&mut first, &[]);
    let mut called = 0;
    for seed in 0..EXPERIMENTS {
        let mut random = Random::new(u64::from(seed) + 50_000);
        let mut result = first.clone();
        let mut number = 0;
        for look in looks {
            while number < look {
                number += 1;
                round(&mut result, number, &[0.0, INTEREST.ln_1p()], &mut random);
            }
            conclude(&mut result, &[]);
            if is_decided(&result) {
                break;
            }
        }
        called += u32::from(result.comparisons[0].verdict == Verdict::Equivalent);
    }
    let share = f64::from(called) / f64::from(EXPERIMENTS);
    let limit = 0.05 + 2.0 * (0.05 * 0.95 / f64::from(EXPERIMENTS)).sqrt();
    assert!(
        share <= limit,
        "a change on the bound is called the same in {share} of the experiments"
    );
    assert!(share > 0.02, "{share}: the bound is far from what it says");
}

#[test]
fn the_advised_rounds_show_what_they_promise() {
    const EXPERIMENTS: u32 = 600;
    let (mut shown, mut advised) = (0, 0);
    for seed in 0..EXPERIMENTS {
        let mut random = Random::new(u64::from(seed) + 70_000);
        let mut pilot = experiment(2, &[12]);
        pilot.indifferent = None;
        for number in 1..=12 {
            scattered_round(&mut pilot, number, &[0.0, 0.0], (WIDE, &mut random));
        }
        conclude(&mut pilot, &[]);
        let Some(rounds) = pilot.comparisons[0].rounds_to_decide else { continue };
        advised += 1;
        let mut draw = || INTEREST.ln_1p() + WIDE * random.normal();
        let differences: Vec<f64> = (0..rounds).map(|_| draw()).collect();
        shown += u32::from(SignedRank::new(&differences).p_value() <= Some(0.05));
    }
    let power = f64::from(shown) / f64::from(advised);
    assert!(advised > 400, "{advised}");
    assert!((0.75..0.9).contains(&power), "{power} of the experiments show it");
}

/// The sentences of a sweep over the values 1, 2, 4 … with these effects.
fn sweep(effects: &[f64], rounds: u32, goal: Goal, seed: u64) -> Vec<String> {
    let mut result = experiment(effects.len(), &[rounds]);
    for (exponent, arm) in result.arms.iter_mut().enumerate() {
        arm.name = format!("prefetch={}", 1 << exponent);
    }
    let values = (0..effects.len()).map(|exponent| (1 << exponent).to_string()).collect();
    result.axes = vec![SweepAxis { key: "consumers.0.prefetch".to_owned(), values }];
    result.metrics[0] =
        MetricFacts { name: "consumed.rate".to_owned(), goal, ..MetricFacts::default() };
    let mut random = Random::new(seed);
    (1..=rounds).for_each(|number| round(&mut result, number, effects, &mut random));
    conclude(&mut result, &[]);
    result.sentences.split_off(1)
}

const PLATEAU: [f64; 6] = [0.0, 0.4, 0.7, 0.9, 0.9, 0.9];

#[test]
fn a_sweep_says_which_value_is_enough() {
    fn check(effects: &[f64], rounds: u32, goal: Goal, expected: &[&str]) {
        let [sentence] = &sweep(effects, rounds, goal, 3)[..] else { panic!("one sentence") };
        assert!(expected.iter().all(|part| sentence.contains(part)), "{sentence}");
    }
    let found =
        ["Enough for consumed.rate: prefetch=8.", "better by 3 %", "with prefetch=4 it is worse"];
    check(&PLATEAU, 12, Goal::Higher, &found);
    check(&PLATEAU.map(|effect| -effect), 12, Goal::Lower, &found);
    check(&[0.0, 0.5, 0.3, 0.1], 12, Goal::Higher, &["Enough for consumed.rate: prefetch=2."]);
    check(&[0.0; 4], 20, Goal::Higher, &["prefetch=1.", "the smallest value of the sweep"]);
    check(
        &[0.0, 0.3, 0.6],
        12,
        Goal::Higher,
        &["No consumers.0.prefetch is recommended", "further"],
    );
    check(&[0.0, 0.3, 0.31, 0.32], 6, Goal::Higher, &["prefetch"]);
    check(&PLATEAU, 4, Goal::Higher, &["needs 5 rounds"]);
}

#[test]
fn too_small_a_value_is_rarely_recommended() {
    const SWEEPS: u64 = 300;
    let wrong = (0..SWEEPS).filter(|seed| {
        let sentences = sweep(&PLATEAU, 8, Goal::Higher, seed + 90_000);
        ["=1.", "=2.", "=4."].iter().any(|value| {
            sentences[0].starts_with(&format!("Enough for consumed.rate: prefetch{value}"))
        })
    });
    assert_eq!(wrong.count(), 0, "0.2 is ten times what rounds scatter by");
    let barely = [0.0, 0.0, INTEREST.ln_1p() + 1e-9];
    let wrong = (0..SWEEPS)
        .filter(|seed| sweep(&barely, 12, Goal::Higher, seed + 95_000)[0].starts_with("Enough"));
    let wrong = wrong.count();
    assert!(
        wrong as f64 <= 0.05 * 300.0 + 2.0 * (0.05_f64 * 0.95 * 300.0).sqrt(),
        "{wrong} of 300"
    );
}
