//! The contents of the page of an experiment.

use rabbitscope_analysis::experiment::conclude;
use rabbitscope_runs::{
    experiment::{
        ArmFacts, ArmLatency, ExperimentResult, FunctionChange, MetricFacts, ProfileComparison,
        RunOfArm, SweepAxis,
    },
    record::SpectrumPoint,
};

use serde_json::{Value, json};

use super::{document::document, write_experiment};

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

/// Returns the data of the page. Asserts that the page has no markup of others and no absurd numbers.
fn data(result: &ExperimentResult) -> Value {
    let mut page = Vec::new();
    write_experiment(&mut page, result).unwrap();
    let page = String::from_utf8(page).unwrap();
    assert!(!page.contains("<credit>") && !page.contains("<host>"), "{page}");
    serde_json::to_value(document(result)).unwrap()
}

fn section<'a>(data: &'a Value, id: &str) -> &'a Value {
    let sections = data["sections"].as_array().unwrap();
    sections.iter().find(|section| section["id"] == id).unwrap_or(&Value::Null)
}

/// Returns the marks of a kind in all charts of a section.
fn marks<'a>(section: &'a Value, kind: &str) -> Vec<&'a Value> {
    let blocks = section["blocks"].as_array().unwrap().iter();
    let charts = blocks.filter_map(|block| block["charts"].as_array()).flatten();
    let marks = charts.flat_map(|chart| chart["marks"].as_array().unwrap());
    marks.filter(|mark| mark["kind"] == kind).collect()
}

fn items(marks: &[&Value], column: &str) -> usize {
    marks.iter().map(|mark| mark[column].as_array().map_or(0, Vec::len)).sum()
}

fn hollow(marks: &[&Value]) -> usize {
    let all = marks.iter().filter_map(|mark| mark["hollow"].as_array()).flatten();
    all.filter(|hollow| **hollow == json!(true)).count()
}

#[test]
fn the_verdict_comes_first_and_every_round_is_a_point() {
    let mut result = result(20);
    conclude(&mut result, &[]);
    let data = data(&result);
    assert_eq!(data["title"], "<credit>");
    let verdict = data["sections"][0]["blocks"][0]["sentences"][0]["text"].as_str().unwrap();
    assert!(verdict.starts_with("credit & more against default: consumed"), "{verdict}");
    // Two rows of twenty ratios, and sixty runs in time.
    let rounds = section(&data, "rounds");
    assert_eq!(items(&marks(rounds, "points"), "x"), 40);
    assert_eq!(items(&marks(section(&data, "runs"), "points"), "x"), 60);
    let rows = &rounds["blocks"][0]["charts"][0]["y"]["names"];
    assert_eq!(rows[1][1], "default-again (control)");
    let band = marks(rounds, "spans")[1];
    assert_eq!(band["to"], json!([1.03]));
    assert_eq!(marks(rounds, "intervals").len(), 2);
    let ratio = &result.comparisons[0].differences[0];
    assert_eq!(marks(rounds, "points")[0]["x"][0], json!(ratio.ratio));
}

#[test]
fn a_round_that_is_left_out_is_hollow_with_its_reason() {
    let mut result = result(8);
    result.runs[4].doubts = vec!["the <host> took 9 % away".to_owned()];
    result.runs[4].directory = "runs/05 <b>".to_owned();
    conclude(&mut result, &[]);
    let data = data(&result);
    assert_eq!(hollow(&marks(section(&data, "rounds"), "points")), 2, "a ratio of each arm");
    let runs = marks(section(&data, "runs"), "points");
    assert_eq!(hollow(&runs), 1);
    let reason = &section(&data, "dropped")["blocks"][0]["rows"][0][2]["text"];
    assert_eq!(reason, "the <host> took 9 % away");
    let links = runs.iter().filter_map(|mark| mark["link"].as_array()).flatten();
    assert!(links.into_iter().any(|link| *link == json!("runs/05%20%3Cb%3E/report.html")));
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
    let data = data(&result);
    for metric in ["metric-0", "metric-1"] {
        let lines = marks(section(&data, metric), "line");
        let names: Vec<&Value> = lines.iter().map(|line| &line["name"]).collect();
        assert_eq!(names, ["classic", "quorum"]);
        assert_eq!(lines[0]["x"], json!([1.0, 10.0, 1000.0]));
    }
    assert_eq!(section(&data, "metric-0")["title"], "consumed.rate against consumers.0.prefetch");
    let columns = section(&data, "comparisons")["blocks"][0]["columns"].as_array().unwrap();
    assert_eq!(columns.len(), 7, "no verdict on a combination");
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
    let data = data(&result);
    let blocks = &section(&data, "profiles")["blocks"];
    let row = &blocks[2]["rows"][0];
    assert_eq!(row[0]["text"], "m:<f>/2");
    let shares: Vec<&Value> = (1..5).map(|column| &row[column]["value"]).collect();
    assert_eq!(shares, [&json!(0.04), &json!(0.02), &json!(0.095), &json!(0.025)]);
    assert_eq!(blocks[1]["links"][0]["href"], "profiles/02-credit.html");
    let refused = blocks[3]["sentences"][0]["text"].as_str().unwrap();
    assert!(refused.ends_with("Not compared: 1 and 1 profiles are too few"), "{refused}");
    let latencies = section(&data, "latencies");
    let names = latencies["blocks"][0]["charts"][0]["x"]["names"].as_array().unwrap();
    assert_eq!(names.last().unwrap()[1], "p99");
    assert_eq!(marks(latencies, "line").len(), 2);
}

#[test]
fn nothing_measured_is_a_page_as_well() {
    let mut result = ExperimentResult { runs: Vec::new(), ..result(0) };
    result.aborted = Some("the broker did not start".to_owned());
    conclude(&mut result, &[]);
    let sentence = &data(&result)["sections"][0]["blocks"][0]["sentences"][0]["text"];
    assert_eq!(sentence, "Not complete: the broker did not start");
}
