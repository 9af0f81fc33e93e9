//! A case, findings, and the reading of their files.

use std::time::Duration;

use rabbitscope_runs::{
    experiment::{self, Experiment},
    scenario::{self, BrokerSpec, Scenario, ThrowawayBroker},
};

use crate::{
    case::{
        Broker, Case, ChannelCase, Clients, ConnectionCase, QueueCase, QueueKind, Queues, Subject,
    },
    experiments::{BaseScenario, ExperimentFile, experiments},
    finding::{Bound, Change, Finding, Severity},
    report::CheckReport,
};

/// Returns the experiments of a case with these findings, and the report, whose limit does not matter.
pub(super) fn written(case: &Case, findings: Vec<Finding>) -> (Vec<ExperimentFile>, CheckReport) {
    let mut report = CheckReport::from_case(&unread());
    report.findings = findings;
    let files = experiments(case, &mut report, Err("packets were not captured"));
    (files, report)
}

/// Returns the experiment of a finding on an observed load.
#[track_caller]
pub(super) fn on_base(base: &str, case: &Case, finding: Finding) -> ExperimentFile {
    let base = BaseScenario::new(base.to_owned()).unwrap();
    let mut report = CheckReport::from_case(&unread());
    report.findings = vec![finding];
    experiments(case, &mut report, Ok(&base)).remove(0)
}

pub(super) fn finding(rule: &str, subject: &str, setting: &str) -> Finding {
    Finding {
        rule: rule.to_owned(),
        severity: Severity::Warning,
        subjects: vec![subject.to_owned()],
        subjects_in_all: 1,
        sentence: format!("{subject} is slow"),
        evidence: Vec::new(),
        change: Some(Change {
            setting: setting.to_owned(),
            sentence: format!("change {setting}"),
            text: None,
            cost: "time".to_owned(),
        }),
        bound: Some(Bound { throughput: 0.5, reason: "the next stage".to_owned() }),
        experiment: None,
    }
}

pub(super) fn with_text(mut finding: Finding, text: &str) -> Finding {
    if let Some(change) = &mut finding.change {
        change.text = Some(text.to_owned());
    }
    finding
}

pub(super) fn unread() -> Case {
    Case::unread(Subject { duration: Duration::from_secs(15), ..Subject::default() })
}

/// Reads the files as `rabbitscope experiment` does. Returns the experiment with the scenario of each arm.
#[track_caller]
pub(super) fn parsed(file: &ExperimentFile) -> (Experiment, Vec<Scenario>) {
    let read = experiment::parse(&file.experiment, &file.name, &[]);
    let experiment = read.unwrap_or_else(|error| panic!("{error}\n{}", file.experiment));
    assert_eq!(experiment.base, file.scenario_name);
    let arm = |overrides: &[String]| {
        let read = scenario::parse(&file.scenario, &file.scenario_name, overrides);
        read.unwrap_or_else(|error| panic!("{error}\n{}\n{}", file.scenario, file.experiment))
    };
    arm(&[]);
    let scenarios: Vec<Scenario> = experiment.arms.iter().map(|one| arm(&one.overrides)).collect();
    assert_ne!(scenarios[0].to_toml(), scenarios[1].to_toml(), "{}", file.experiment);
    (experiment, scenarios)
}

/// The quantities of a load: a publisher with confirms, and two consumers of `orders`.
pub(super) fn case() -> Case {
    let publisher = ChannelCase {
        pid: "<0.10.0>".to_owned(),
        name: "10.0.0.1:1 -> 10.0.0.9:5672 (1)".to_owned(),
        connection: "<0.9.0>".to_owned(),
        vhost: "/".to_owned(),
        is_confirming: true,
        unconfirmed: 40,
        published_per_second: Some(4_000.0),
        ..ChannelCase::default()
    };
    let consumer = ChannelCase {
        pid: "<0.20.0>".to_owned(),
        name: "10.0.0.2:1 -> 10.0.0.9:5672 (1)".to_owned(),
        connection: "<0.19.0>".to_owned(),
        client: "shop".to_owned(),
        vhost: "/".to_owned(),
        consumers: 2,
        prefetch: Some(1),
        consumed_queues: vec!["orders".to_owned()],
        delivered_per_second: Some(4_000.0),
        ..ChannelCase::default()
    };
    let connection = ConnectionCase {
        pid: "<0.9.0>".to_owned(),
        name: "10.0.0.1:1 -> 10.0.0.9:5672".to_owned(),
        received_bytes_per_second: Some(4_000.0 * 570.0),
        ..ConnectionCase::default()
    };
    let orders = queue("orders", QueueKind::Classic);
    Case {
        broker: Ok(Broker { version: "3.10.8".to_owned(), ..Broker::default() }),
        queues: Ok(Queues { count: 1, rows: vec![orders], ..Queues::default() }),
        clients: Ok(Clients { connections: vec![connection], channels: vec![publisher, consumer] }),
        ..unread()
    }
}

pub(super) fn queue(name: &str, kind: QueueKind) -> QueueCase {
    QueueCase {
        vhost: "/".to_owned(),
        name: name.to_owned(),
        kind,
        pid: format!("<0.{}.0>", 100 + name.len()),
        consumers: 2,
        published_per_second: Some(4_000.0),
        delivered_per_second: Some(4_000.0),
        is_durable: true,
        ..QueueCase::default()
    }
}

/// Returns the primary metric, and the scenarios of both arms.
#[track_caller]
pub(super) fn arms(case: &Case, finding: Finding) -> (String, [Scenario; 2]) {
    let (files, report) = written(case, vec![finding]);
    assert_eq!(files.len(), 1, "{files:?}");
    assert_eq!(report.findings[0].experiment.as_ref(), Some(&files[0].name));
    let (experiment, scenarios) = parsed(&files[0]);
    (experiment.metrics[0].to_string(), scenarios.try_into().expect("two arms"))
}

#[track_caller]
pub(super) fn none(case: &Case, finding: Finding) {
    assert_eq!(written(case, vec![finding]).0, []);
}

pub(super) fn broker(scenario: &Scenario) -> &ThrowawayBroker {
    match &scenario.broker.spec {
        BrokerSpec::Throwaway(broker) => broker,
        BrokerSpec::Existing { .. } => panic!("it is a broker that runs"),
    }
}
