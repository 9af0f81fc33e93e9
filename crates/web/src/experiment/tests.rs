//! The contents of the page of an experiment.

use rabbitscope_analysis::experiment::conclude;
use rabbitscope_runs::{
    experiment::{
        ArmFacts, ArmLatency, ExperimentResult, FunctionChange, MetricFacts, ProfileComparison,
        RunOfArm, SweepAxis,
    },
    record::SpectrumPoint,
};

use super::write_experiment;

fn result(rounds: u32) -> ExperimentResult {
    let arm =
        |name: &str, control| ArmFacts { name: name.to_owned(), control, ..ArmFacts::default() };
    let metric = |name: &str, unit: &str| MetricFacts {
        name: name.to_owned(),
        unit: unit.to_owned(),
        ..MetricFacts::default()
    };
    let mut result = ExperimentResult {
        name: "<credit>".to_owned(),
        seed: 7,
        rounds,
        looks: vec![rounds],
        alpha: 0.05,
        indifferent: Some(0.03),
        arms: vec![arm("default", false), arm("credit & more", false), arm("default-again", true)],
        metrics: vec![metric("consumed.rate", "messages/s"), metric("confirm.p99", "nanoseconds")],
        ..ExperimentResult::default()
    };
    for round in 1..=rounds {
        for arm in 0..3 {
            let drift = 1.0 + 0.05 * (f64::from(round) / 3.0).sin();
            let noise = 0.01 * f64::from((round * 7 + arm * 5) % 9) - 0.04;
            let effect = if arm == 1 { 1.08 } else { 1.0 };
            let rate = 50_000.0 * drift * (1.0 + noise) * effect;
            result.runs.push(RunOfArm {
                round,
                position: 1 + (arm + round) % 3,
                arm: arm as usize,
                started_unix_nanos: u64::from(round * 3 + (arm + round) % 3) * 20_000_000_000,
                values: vec![Some(rate), Some(1e11 / rate)],
                foreign_share: Some(0.01 + 0.002 * f64::from(round % 5)),
                stolen_share: Some(0.001),
                ..RunOfArm::default()
            });
        }
    }
    result
}

fn page(result: &ExperimentResult) -> String {
    let mut page = Vec::new();
    write_experiment(&mut page, result).unwrap();
    String::from_utf8(page).unwrap()
}

#[test]
fn the_verdict_comes_first_and_every_round_is_a_dot() {
    let mut result = result(20);
    conclude(&mut result, &[]);
    let page = page(&result);
    assert!(page.contains("<h1>&lt;credit&gt;</h1>") && !page.contains("<credit>"));
    let verdict = page.find("credit &amp; more against default: consumed").unwrap();
    assert!(verdict < page.find("<svg").unwrap());
    // Two rows of twenty ratios, and sixty runs in time.
    assert_eq!(page.matches("class=\"dot\"").count(), 40);
    assert_eq!(page.matches("class=\"dot c").count(), 60);
    assert!(page.contains("(control)") && page.contains("class=\"band\""));
    assert!(!page.contains("NaN") && !page.contains("inf"), "{page}");
    if let Some(place) = std::env::var_os("RABBITSCOPE_PAGE") {
        std::fs::write(place, page).unwrap();
    }
}

#[test]
fn a_round_that_is_left_out_is_hollow_with_its_reason() {
    let mut result = result(8);
    result.runs[4].doubts = vec!["the <host> took 9 % away".to_owned()];
    conclude(&mut result, &[]);
    let page = page(&result);
    assert_eq!(page.matches("class=\"hollow\"").count(), 2, "a ratio of each arm");
    assert_eq!(page.matches("class=\"hollow c").count(), 1);
    assert!(page.contains("<h2>Left out</h2>") && page.contains("the &lt;host&gt; took 9 % away"));
}

#[test]
fn a_sweep_has_a_curve_for_each_value_of_the_second_key() {
    let mut result = result(6);
    let axis = |key: &str, values: &[&str]| SweepAxis {
        key: key.to_owned(),
        values: values.iter().map(|value| (*value).to_owned()).collect(),
    };
    result.axes = vec![
        axis("consumers.0.prefetch", &["1", "10", "1000"]),
        axis("queues.0.type", &["\"classic\"", "\"quorum\""]),
    ];
    result.arms = (0..6)
        .map(|number| ArmFacts {
            name: format!("cell {number}"),
            cell: vec![number / 2, number % 2],
            ..ArmFacts::default()
        })
        .collect();
    for run in &mut result.runs {
        run.arm += 3 * (run.round as usize % 2);
    }
    conclude(&mut result, &[]);
    let page = page(&result);
    assert_eq!(page.matches("class=\"median\"").count(), 4, "two metrics, two types");
    assert!(
        page.contains("consumed.rate against consumers.0.prefetch") && page.contains(">quorum<")
    );
}

#[test]
fn what_explains_a_difference_stands_below_it() {
    let mut result = result(8);
    conclude(&mut result, &[]);
    let change = FunctionChange {
        function: "m:<f>/2".to_owned(),
        own: [0.04, 0.02],
        total: [0.095, 0.025],
        moved: "both".to_owned(),
    };
    result.profiles = vec![
        ProfileComparison {
            arm: 1,
            event: "cpu".to_owned(),
            rounds: 8,
            page: "profiles/02-credit.html".to_owned(),
            changes: vec![change],
            ..ProfileComparison::default()
        },
        ProfileComparison {
            arm: 2,
            refusal: "1 and 1 profiles are too few".to_owned(),
            ..ProfileComparison::default()
        },
    ];
    let point = |quantile, nanos: u64| SpectrumPoint { quantile, nanos };
    let latency = |arm, factor: u64| ArmLatency {
        arm,
        name: "confirm".to_owned(),
        rounds: 8,
        spectrum: vec![
            point(0.0, factor * 200_000),
            point(0.5, factor * 500_000),
            point(0.9, factor * 900_000),
            point(0.99, factor * 4_000_000),
        ],
    };
    result.latencies = vec![latency(0, 2), latency(1, 1)];
    let page = page(&result);
    assert!(page.contains("m:&lt;f&gt;/2</code></td><td>4.00 %</td><td>2.00 %</td><td>9.50 %"));
    assert!(page.contains("<a href=\"profiles/02-credit.html\">"));
    assert!(page.contains("Not compared: 1 and 1 profiles are too few"));
    assert!(page.contains(">p99</text>") && !page.contains(">p99.9</text>"));
    assert_eq!(page.matches("class=\"median c").count(), 2);
    assert!(!page.contains("NaN") && !page.contains("inf"));
}

#[test]
fn nothing_measured_is_a_page_as_well() {
    let mut result = ExperimentResult { runs: Vec::new(), ..result(0) };
    result.aborted = Some("the broker did not start".to_owned());
    conclude(&mut result, &[]);
    assert!(page(&result).contains("Not complete: the broker did not start"));
}
