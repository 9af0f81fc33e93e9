//! Experiments, searches and days of `watch` with figures that a test can know by heart, and hostile names.

use std::time::Duration;

use rabbitscope_analysis::experiment::conclude;
use rabbitscope_runs::{
    capacity::{Capacity, CapacityStep, RateSpread, StepVerdict},
    experiment::{
        ArmFacts, ArmLatency, ExperimentResult, FunctionChange, MetricFacts, ProfileComparison,
        RunOfArm, SweepAxis,
    },
    record::SpectrumPoint,
};
use rabbitscope_web::BusyWindow;

const HOSTILE: &str = "<img src=x onerror=\"alert(1)\">";
const SECOND: u64 = 1_000_000_000;

/// Two nodes for two hours, a window each minute. The second node has a hostile name.
pub(crate) fn windows() -> Vec<BusyWindow> {
    let nodes = ["rabbit@one", HOSTILE];
    let of_node = |(number, node): (u64, &str)| -> Vec<BusyWindow> {
        (0..120)
            .map(|minute| BusyWindow {
                node: node.to_owned(),
                started: Duration::from_secs(1_795_579_200 + 60 * minute),
                length: Duration::from_secs(60),
                cpu: Duration::from_secs(30 * (number + 1) + minute % 20),
            })
            .collect()
    };
    (0..).zip(nodes).flat_map(of_node).collect()
}

/// The beginning of the command of a node's cells.
pub(crate) fn command(node: &str) -> String {
    format!("rabbitscope flamegraph windows --node '{node}'")
}

fn point(quantile: f64, nanos: u64) -> SpectrumPoint {
    SpectrumPoint { quantile, nanos }
}

/// Three arms of which one is faster by 8 %, in ten rounds of which one is in doubt.
pub(crate) fn experiment() -> ExperimentResult {
    let mut result = runs(10);
    result.runs[4].doubts = vec!["the host took 9 % away".to_owned()];
    conclude(&mut result, &[]);
    result.profiles = vec![ProfileComparison {
        arm: 1,
        event: "cpu".to_owned(),
        rounds: 9,
        page: "profiles/02-credit.html".to_owned(),
        changes: vec![FunctionChange {
            function: "m:<f>/2".to_owned(),
            own: [0.04, 0.02],
            total: [0.095, 0.025],
            moved: "both".to_owned(),
        }],
        ..ProfileComparison::default()
    }];
    let latency = |arm, factor: u64| ArmLatency {
        arm,
        name: "confirm".to_owned(),
        rounds: 9,
        spectrum: vec![
            point(0.0, factor * 200_000),
            point(0.5, factor * 500_000),
            point(0.9, factor * 900_000),
            point(0.99, factor * 4_000_000),
        ],
    };
    result.latencies = vec![latency(0, 2), latency(1, 1)];
    result
}

fn runs(rounds: u32) -> ExperimentResult {
    let arm =
        |name: &str, control| ArmFacts { name: name.to_owned(), control, ..ArmFacts::default() };
    let metric = |name: &str, unit: &str| MetricFacts {
        name: name.to_owned(),
        unit: unit.to_owned(),
        ..MetricFacts::default()
    };
    let run = |round: u32, arm: u32| {
        let effect = if arm == 1 { 1.08 } else { 1.0 };
        let rate = (50_000.0 + 500.0 * f64::from((round * 7 + arm * 5) % 9)) * effect;
        RunOfArm {
            round,
            position: arm + 1,
            arm: arm as usize,
            directory: format!("runs/{round:02}-{arm}"),
            started_unix_nanos: u64::from(round * 3 + arm) * 20 * SECOND,
            values: vec![Some(rate), Some(1e11 / rate)],
            foreign_share: Some(0.01 + 0.002 * f64::from(round % 5)),
            stolen_share: Some(0.001),
            ..RunOfArm::default()
        }
    };
    ExperimentResult {
        name: "<credit> & more".to_owned(),
        description: "Does more credit help?".to_owned(),
        seed: 7,
        rounds,
        looks: vec![rounds],
        alpha: 0.05,
        indifferent: Some(0.03),
        arms: vec![arm("default", false), arm(HOSTILE, false), arm("default-again", true)],
        metrics: vec![metric("consumed.rate", "messages/s"), metric("confirm.p99", "nanoseconds")],
        runs: (1..=rounds).flat_map(|round| (0..3).map(move |arm| run(round, arm))).collect(),
        ..ExperimentResult::default()
    }
}

/// A sweep over a prefetch and a type of queue.
pub(crate) fn sweep() -> ExperimentResult {
    let mut result = runs(6);
    let axis = |key: &str, values: &[&str]| SweepAxis {
        key: key.to_owned(),
        values: values.iter().map(|value| (*value).to_owned()).collect(),
    };
    result.axes = vec![
        axis("consumers.0.prefetch", &["1", "10", "1000"]),
        axis("queues.0.type", &["\"classic\"", "\"quorum\""]),
    ];
    let cell = |number: usize| ArmFacts {
        name: format!("cell {number}"),
        cell: vec![number / 2, number % 2],
        ..ArmFacts::default()
    };
    result.arms = (0..6).map(cell).collect();
    for run in &mut result.runs {
        run.arm += 3 * (run.round as usize % 2);
    }
    conclude(&mut result, &[]);
    result
}

/// A search with two steps that passed, one that did not, and one that says nothing.
pub(crate) fn capacity() -> Capacity {
    let step = |offered: f64, millis: u64, verdict| CapacityStep {
        offered,
        achieved: offered,
        latency: "confirm-intended".to_owned(),
        p50: Some(millis * 1_000_000),
        p99: Some(10 * millis * 1_000_000),
        verdict,
        reasons: vec![HOSTILE.to_owned()],
        directory: format!("steps/{offered}"),
        ..CapacityStep::default()
    };
    Capacity {
        name: "search & <find>".to_owned(),
        sentence: "The broker takes 2,050 messages a second.".to_owned(),
        broker: "RabbitMQ 3.10.8".to_owned(),
        limits: vec!["confirm.p99 < 50ms".to_owned()],
        steps: vec![
            step(2000.0, 2, StepVerdict::Passed),
            step(1000.0, 1, StepVerdict::Passed),
            step(3000.0, 90, StepVerdict::Failed),
            step(2500.0, 700, StepVerdict::Stalled),
        ],
        rate: Some(2050.0),
        spread: Some(RateSpread { low: 2000.0, high: 2100.0, crossings: 7, share: 0.05 }),
        ..Capacity::default()
    }
}
