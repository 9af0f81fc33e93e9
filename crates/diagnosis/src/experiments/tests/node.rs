//! The arms of findings about settings of the node, bounds and names.

use rabbitscope_runs::scenario::{QueueType, Scenario};

use super::case::{arms, broker, case, finding, none, parsed, queue, with_text, written};
use crate::{
    case::{Cpu, ProcessCpu, QueueCase, QueueKind, Queues, Vm},
    experiments::table::{BY_RULE, BY_SETTING, Row},
};

#[test]
fn settings_of_the_broker_change() {
    let mut quorum = case();
    quorum.queues.as_mut().unwrap().rows = vec![queue("orders", QueueKind::Quorum)];
    quorum.broker.as_mut().unwrap().settings.other = [
        ("rabbit.credit_flow_default_credit".to_owned(), "{800, 400}".to_owned()),
        ("rabbit.default_pass".to_owned(), "secret".to_owned()),
    ]
    .into();
    let soft = with_text(
        finding("quorum-soft-limit", "orders", "quorum_commands_soft_limit"),
        "[{rabbit, [{quorum_commands_soft_limit, 256}]}].",
    );
    let (metric, [observed, changed]) = arms(&quorum, soft);
    assert_eq!(metric, "published.rate");
    let advanced = |scenario: &Scenario| broker(scenario).advanced_config.clone();
    let credit = "{credit_flow_default_credit, {800,400}}";
    assert_eq!(advanced(&observed), format!("[{{rabbit, [{credit}]}}]."));
    assert_eq!(
        advanced(&changed),
        format!("[{{rabbit, [{credit}, {{quorum_commands_soft_limit, 256}}]}}].")
    );
    let store = with_text(
        finding("store-bound", "orders", "disk of the node's data"),
        "[{rabbit, [{msg_store_credit_disc_bound, {16000, 3200}}]}].",
    );
    let (_, [observed, changed]) = arms(&case(), store);
    assert!(observed.publishers[0].size.is_some_and(|bytes| bytes >= 4_096));
    assert!(advanced(&changed).contains("{msg_store_credit_disc_bound, {16000,3200}}"));
    none(&case(), finding("store-bound", "orders", "disk of the node's data"));
}

#[test]
fn statistics_are_collected_less_often() {
    let mut case = case();
    case.queues.as_mut().unwrap().count = 3_000;
    let rare = with_text(
        finding("statistics-overload", "rabbit@a", "collect_statistics_interval"),
        "collect_statistics_interval = 30000",
    );
    let (metric, [observed, changed]) = arms(&case, rare);
    assert_eq!(metric, "broker.cpu-per-message");
    assert_eq!(observed.queues[0].to, Some(500));
    assert_eq!(broker(&observed).plugins, ["rabbitmq_management"]);
    assert_eq!(broker(&changed).config.trim(), "collect_statistics_interval = 30000");
    let (_, [observed, changed]) =
        arms(&case, finding("http-load", "", "requests to the management API"));
    assert!(observed.pollers[0].interval < changed.pollers[0].interval);
}

#[test]
fn the_vm_has_other_flags() {
    let mut case = case();
    let flags =
        vec![("+sbwt".to_owned(), "very_long".to_owned()), ("+P".to_owned(), "9".to_owned())];
    case.vm = Ok(Vm { schedulers_online: 1, flags, ..Vm::default() });
    let (metric, [observed, changed]) = arms(&case, finding("busy-wait", "", ""));
    assert_eq!(metric, "broker.cpu-per-message");
    assert_eq!(broker(&observed).erl_args, "+sbwt very_long");
    assert_eq!(broker(&changed).erl_args, "+sbwt none +sbwtdcpu none +sbwtdio none");
    let (metric, [observed, changed]) = arms(&case, finding("few-schedulers", "", "+S"));
    assert_eq!(metric, "consumed.rate");
    assert_eq!(broker(&observed).erl_args, "+S 1 +sbwt very_long");
    assert_eq!(broker(&changed).erl_args, "+sbwt very_long");
}

#[test]
fn mirrors_and_tracing_go() {
    let mut case = case();
    // The other queues have more messages, but no mirrors.
    let mut busier = queue("busier", QueueKind::Quorum);
    busier.published_per_second = Some(9_000.0);
    case.queues.as_mut().unwrap().rows.push(busier);
    case.broker.as_mut().unwrap().nodes = vec!["rabbit@a".to_owned(), "rabbit@b".to_owned()];
    let mirrors = || finding("mirroring", "//all", "queue type");
    let (_, [observed, changed]) = arms(&case, mirrors());
    assert_eq!((broker(&observed).nodes, broker(&observed).policies.len()), (2, 1));
    assert_eq!(observed.queues[0].queue_type, QueueType::Classic);
    assert_eq!(changed.queues[0].queue_type, QueueType::Quorum);
    case.broker.as_mut().unwrap().version = "4.0.1".to_owned();
    none(&case, mirrors());
    let (_, [observed, changed]) = arms(&case, finding("tracing", "/", "trace_off"));
    assert!(broker(&observed).advanced_config.contains("{trace_vhosts, [<<\"/\">>]}"));
    assert_eq!(broker(&changed).advanced_config, "");
}

#[test]
fn classic_queues_get_a_better_form() {
    let mut case = case();
    case.queues.as_mut().unwrap().rows[0].ready = 1_000_000;
    let (metric, [observed, changed]) =
        arms(&case, finding("classic-paging", "orders", "classic_queue.default_version"));
    assert_eq!(metric, "broker.memory");
    assert_ne!(observed.queues[0].arguments, changed.queues[0].arguments);
    let backlog = observed.publishers.last().unwrap();
    assert_eq!(backlog.messages, Some(20_000));
    let (_, [_, changed]) = arms(&case, finding("classic-paging", "orders", "queue-mode"));
    assert!(changed.queues[0].arguments.contains_key("x-queue-mode"));
}

#[test]
fn a_large_node_is_made_small() {
    let mut case = case();
    let names = || (0..1_000).map(|number| format!("q{number}"));
    let rows =
        names().map(|name| QueueCase { pid: name.clone(), ..queue(&name, QueueKind::Classic) });
    case.queues = Ok(Queues { count: 8_000, rows: rows.collect(), ..Queues::default() });
    let (files, _) = written(&case, vec![finding("busy-wait", "", "")]);
    let (_, scenarios) = parsed(&files[0]);
    assert_eq!(scenarios[0].queues[0].to, Some(100));
    assert!(
        files[0].scenario.contains("# a part of 1000 such queues of 8000 queues"),
        "{}",
        files[0].scenario
    );
    let all: f64 = scenarios[0].publishers.iter().filter_map(|one| one.rate).sum();
    assert!(all <= 10_000.0, "{all}");
}

#[test]
fn the_management_plugin_is_there_if_it_was() {
    let mut case = case();
    let collector = ProcessCpu { role: "mgmt_stats".to_owned(), ..ProcessCpu::default() };
    case.cpu = Ok(Cpu { processes: vec![collector], ..Cpu::default() });
    let (_, [observed, _]) = arms(&case, finding("low-prefetch", "shop", "prefetch"));
    assert_eq!(broker(&observed).plugins, ["rabbitmq_management"]);
}

#[test]
fn names_in_the_table_differ_and_reasons_are_given() {
    for table in [BY_RULE, BY_SETTING] {
        for (at, (name, row)) in table.iter().enumerate() {
            assert!(table[..at].iter().all(|(other, _)| other != name), "{name}");
            if let Row::Without(reason) = row {
                assert!(!reason.is_empty(), "{name}");
                none(&case(), finding(name, "orders", name));
            }
        }
    }
}

#[test]
fn findings_of_one_rule_get_a_file_each() {
    let both = vec![
        finding("queue-bound", "orders", "number of queues"),
        finding("queue-bound", "orders", "number of queues"),
        finding("unknown", "", "nothing known"),
    ];
    let (files, report) = written(&case(), both);
    let names: Vec<&str> = files.iter().map(|file| &*file.name).collect();
    assert_eq!(names, ["queue-bound.toml", "queue-bound-2.toml"]);
    assert_eq!(report.findings[2].experiment, None);
}
