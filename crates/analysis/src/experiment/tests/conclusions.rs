//! Sentences and verdicts for given values.

use rabbitscope_runs::experiment::{
    ArmFacts, ComparisonRole, ExperimentResult, Goal, KnownExpectation, KnownResult, MetricFacts,
    MetricRole, RunOfArm, SweepAxis, Verdict,
};

use crate::experiment::{conclude, is_decided};

/// An experiment with these values per round and arm; the last arm is the control.
fn experiment(rounds: &[[f64; 3]]) -> ExperimentResult {
    let arm =
        |name: &str, control| ArmFacts { name: name.to_owned(), control, ..ArmFacts::default() };
    let metric = MetricFacts {
        name: "consumed.rate".to_owned(),
        unit: "messages/s".to_owned(),
        goal: Goal::Higher,
        role: MetricRole::Primary,
    };
    let mut result = ExperimentResult {
        seed: 7,
        alpha: 0.05,
        arms: vec![arm("default", false), arm("faster", false), arm("default again", true)],
        metrics: vec![metric],
        ..ExperimentResult::default()
    };
    for (round, values) in (1..).zip(rounds) {
        result.runs.extend(values.iter().enumerate().map(|(arm, value)| RunOfArm {
            round,
            arm,
            values: vec![Some(*value)],
            ..RunOfArm::default()
        }));
    }
    result
}

fn steps(by: f64) -> Vec<[f64; 3]> {
    let noise = [0.0, 0.01, -0.01, 0.004, -0.006, 0.008, -0.003, 0.002];
    let round = |(index, noise): (usize, &f64)| {
        let base = 1000.0 + 40.0 * index as f64;
        [base, base * (by + noise), base * (1.0 + noise / 2.0)]
    };
    noise.iter().enumerate().map(round).collect()
}

#[test]
fn a_difference_is_said_with_its_interval_and_the_control_beside_it() {
    let mut result = experiment(&steps(1.1));
    conclude(&mut result, &[]);
    assert_eq!(result.comparisons[0].verdict, Verdict::Differs);
    assert_eq!(result.comparisons[1].role, ComparisonRole::Control);
    assert_eq!(result.comparisons[1].verdict, Verdict::Undecided);
    assert!(is_decided(&result));
    let [arm, control] = &result.sentences[..] else { panic!("{:?}", result.sentences) };
    assert!(
        arm.starts_with("faster against default: consumed 10.1 % faster (95 % interval +9."),
        "{arm}"
    );
    assert!(arm.ends_with("8 of 8 rounds, random order, seed 7)."), "{arm}");
    assert!(control.starts_with("default against itself: consumed 0.0 %"), "{control}");
}

#[test]
fn a_difference_that_could_be_others_says_so() {
    let said = |control: f64, foreign: f64| {
        let rounds = steps(1.1).into_iter().map(|[base, arm, again]| [base, arm, again * control]);
        let mut result = experiment(&rounds.collect::<Vec<_>>());
        result.runs.iter_mut().for_each(|run| run.foreign_share = Some(foreign));
        conclude(&mut result, &[]);
        assert_eq!(result.comparisons[0].verdict, Verdict::Differs);
        result.sentences[0].clone()
    };
    assert!(said(1.0, 0.02).ends_with("seed 7)."));
    assert!(said(1.12, 0.02).ends_with("But default against itself is as far off: +12.0 %."));
    assert!(said(0.88, 0.02).contains("as far off: -12.0 %."));
    assert!(said(1.0, 0.6).ends_with(
        "Other processes used 60 % of the machine meanwhile, which can have the same effect."
    ));
}

#[test]
fn a_sweep_has_one_sentence_and_says_how_many_rounds_verdicts_would_need() {
    let check = |rounds: usize, expected: &str| {
        let mut result = experiment(&steps(1.1)[..rounds]);
        result.axes = vec![SweepAxis { key: "k".to_owned(), values: vec!["1".to_owned(); 3] }];
        result.arms[2].control = false;
        conclude(&mut result, &[]);
        let [sentence, ..] = &result.sentences[..] else { panic!("{:?}", result.sentences) };
        assert!(sentence.starts_with(&format!(
            "3 combinations, compared with default: {rounds} of {rounds} rounds"
        )));
        assert!(sentence.ends_with(expected), "{sentence}");
    };
    check(6, "alone; 7 rounds could tell all of them from chance together.");
    check(8, "alone; together (Holm), 1 of 2 differ in consumed.rate.");
}

#[test]
fn what_is_of_no_interest_is_equivalent() {
    let mut result = experiment(&steps(1.002));
    result.indifferent = Some(0.03);
    conclude(&mut result, &[]);
    assert_eq!(result.comparisons[0].verdict, Verdict::Equivalent);
    assert!(result.sentences[0].contains("the same within 3 %"), "{:?}", result.sentences);
}

#[test]
fn too_few_rounds_and_scatter_are_undecided() {
    let mut result = experiment(&steps(1.1)[..5]);
    conclude(&mut result, &[]);
    assert_eq!(result.comparisons[0].verdict, Verdict::Undecided);
    assert_eq!(result.comparisons[0].rounds_to_decide, Some(6));
    assert!(result.sentences[0].contains("too few rounds"), "{:?}", result.sentences);
    let scattered: Vec<[f64; 3]> =
        (0..8).map(|round| [1000.0, if round % 2 == 0 { 1300.0 } else { 800.0 }, 1000.0]).collect();
    let mut result = experiment(&scattered);
    conclude(&mut result, &[]);
    assert!(!is_decided(&result));
    assert!(result.comparisons[0].rounds_to_decide.unwrap() > 100);
    assert!(
        result.sentences[0].contains("no difference of consumed shown"),
        "{:?}",
        result.sentences
    );
}

#[test]
fn a_round_in_doubt_counts_for_no_arm() {
    let mut result = experiment(&steps(1.1));
    result.runs[4].doubts = vec!["the load generator was the limit".to_owned()];
    result.runs.pop();
    conclude(&mut result, &[]);
    assert_eq!((result.dropped.len(), result.dropped[0].round, result.dropped[0].arm), (1, 2, 1));
    assert_eq!(result.comparisons[0].differences.len(), 6, "the last round is not complete");
    assert!(result.sentences[0].contains("6 of 7 rounds"), "{:?}", result.sentences);
}

#[test]
fn what_is_known_is_met_or_not_by_intervals() {
    fn check(by: f64, expected: &str, met: Option<bool>) {
        let mut result = experiment(&steps(by));
        result.known = Some(KnownResult::default());
        conclude(&mut result, &[KnownExpectation::parse(expected).unwrap()]);
        assert_eq!(result.known.as_ref().unwrap().met, met, "{:?}", result.known);
    }
    check(1.1, "faster / default > 1", Some(true));
    check(1.1, "faster / default > 1.05", Some(true));
    check(1.1, "faster / default > 1.2", Some(false));
    check(1.1, "faster / default < 1.2", Some(true));
    check(1.1, "faster / default > 1.1", None);
    check(1.1, "faster > default", Some(true));
    check(1.1, "default > faster", Some(false));
    check(1.1, "faster > default > default again", None);
}

#[test]
fn secondary_metrics_are_adjusted_together() {
    let mut result = experiment(&steps(1.1));
    for name in ["confirm.p99", "broker.memory"] {
        let role = MetricRole::Secondary;
        let goal = Goal::Lower;
        let unit = "nanoseconds".to_owned();
        result.metrics.push(MetricFacts { name: name.to_owned(), unit, goal, role });
    }
    for run in &mut result.runs {
        let value = run.values[0];
        run.values.extend([value, None]);
    }
    conclude(&mut result, &[]);
    let comparison_of = |arm, metric| {
        result
            .comparisons
            .iter()
            .find(|comparison| (comparison.arm, comparison.metric) == (arm, metric))
            .unwrap()
    };
    assert_eq!(comparison_of(1, 0).p, comparison_of(1, 0).adjusted_p);
    assert_eq!(
        comparison_of(1, 1).adjusted_p,
        comparison_of(1, 1).p,
        "the other metric has no values"
    );
    assert!(
        comparison_of(1, 1).sentence.contains("confirm.p99 10.1 % higher"),
        "{}",
        comparison_of(1, 1).sentence
    );
    assert!(
        comparison_of(1, 2).sentence.contains("no round has broker.memory"),
        "{}",
        comparison_of(1, 2).sentence
    );
}
