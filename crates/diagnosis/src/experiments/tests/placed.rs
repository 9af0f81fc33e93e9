//! Arms in the observed load.

use rabbitscope_runs::scenario::Scenario;

use super::case::{broker, case, finding, on_base, parsed, with_text};
use crate::case::{Case, Churn, QueueKind, Vm};

/// A load with two groups of each kind. `orders` is the smaller one.
const OBSERVED: &str = r#"
name = "observed-load"
[run]
duration = "10s"
[[queues]]
name = "other-{}"
to = 3
[[queues]]
name = "orders"
bindings = [{ exchange = "amq.topic", routing-key = "a.#" }]
[[publishers]]
name = "publishers-1"
queue = "other-{}"
rate = 900
confirm-window = 1
[[publishers]]
name = "publishers-2"
exchange = "amq.topic"
routing-key = "a.1"
size = "300B"
rate = 50
confirm-window = 1
[[consumers]]
name = "consumers-1"
queue = "other-{}"
count = 7
prefetch = 5
[[consumers]]
name = "consumers-2"
queue = "orders"
prefetch = 10
processing-time = "10ms"
"#;

/// Returns the primary metric with the scenarios of both arms, which are on the observed load.
#[track_caller]
fn arms(base: &str, case: &Case, finding: crate::Finding) -> (String, [Scenario; 2]) {
    let file = on_base(base, case, finding);
    assert_eq!((&*file.scenario_name, &*file.scenario), ("observed-load.toml", base));
    assert!(file.experiment.contains("# The load is the observed one"), "{}", file.experiment);
    let (experiment, scenarios) = parsed(&file);
    (experiment.metrics[0].to_string(), scenarios.try_into().expect("two arms"))
}

/// Returns the reason why an experiment is not on the observed load. Both of its files have it.
#[track_caller]
fn reason(base: &str, case: &Case, finding: crate::Finding) -> String {
    let file = on_base(base, case, finding);
    assert_ne!(file.scenario_name, "observed-load.toml");
    let (_, rest) = file.experiment.split_once("like it in some numbers: ").unwrap();
    let reason = rest.lines().next().unwrap().trim_end_matches('.').to_owned();
    assert!(file.scenario.contains(&reason), "{}", file.scenario);
    reason
}

fn closed() -> String {
    OBSERVED.replace("rate = 50\n", "").replace("rate = 900\n", "")
}

#[test]
fn the_group_of_the_finding_changes_and_all_others_stay() {
    let (metric, [observed, changed]) =
        arms(OBSERVED, &case(), finding("low-prefetch", "orders", "prefetch"));
    // The rates are those of the clients, so that a time shows the change.
    assert_eq!(metric, "end-to-end-intended.p50");
    assert_eq!(observed.consumers[1].prefetch, Some(10));
    assert_eq!(changed.consumers[1].prefetch, Some(200));
    assert_eq!(observed.consumers[0], changed.consumers[0]);
    assert_eq!(observed.publishers, changed.publishers);
    let (metric, _) = arms(&closed(), &case(), finding("low-prefetch", "orders", "prefetch"));
    assert_eq!(metric, "consumed.rate");
}

#[test]
fn fewer_acknowledgements_are_a_matter_of_cost() {
    let acks = || finding("packets-ack-per-message", "orders", "basic.ack multiple");
    let mut case = case();
    case.clients.as_mut().unwrap().channels[1].prefetch = Some(10);
    case.broker.as_mut().unwrap().settings.statistics = Some("fine".to_owned());
    let (metric, [observed, changed]) = arms(OBSERVED, &case, acks());
    assert_eq!(metric, "broker.cpu-per-message");
    assert_eq!(changed.consumers[1].multi_ack_every, 5);
    assert_eq!(broker(&observed).config.trim(), "collect_statistics = fine");
    assert_eq!(broker(&changed).config, broker(&observed).config);
    let (metric, _) = arms(&closed(), &case, acks());
    assert_eq!(metric, "consumed.rate");
}

#[test]
fn publishers_are_found_by_their_bindings() {
    let found = || finding("flow", "orders", "unconfirmed messages of publishers");
    let (metric, [observed, changed]) = arms(OBSERVED, &case(), found());
    assert_eq!(metric, "confirm-intended.p50");
    let windows =
        |of: &Scenario| [of.publishers[0].confirm_window, of.publishers[1].confirm_window];
    assert_eq!(windows(&observed), [Some(1), Some(1)]);
    assert_eq!(windows(&changed), [Some(1), Some(100)]);
    let more = || finding("flow", "orders", "connections of publishers");
    assert!(reason(OBSERVED, &case(), more()).contains("have rates"));
    let (metric, [_, changed]) = arms(&closed(), &case(), more());
    assert_eq!((&*metric, changed.publishers[1].connections), ("published.rate", 4));
}

#[test]
fn a_rate_that_the_broker_holds_back_is_removed() {
    let held_back = OBSERVED.replace("confirm-window = 1", "arrival = \"poisson\"");
    let more = finding("channel-bound", "orders", "channels of publishers");
    let (metric, [observed, changed]) = arms(&held_back, &case(), more);
    assert_eq!(metric, "published.rate");
    let publishers = |of: &Scenario| {
        of.publishers.iter().map(|group| (group.rate, group.count)).collect::<Vec<_>>()
    };
    assert_eq!(publishers(&observed), [(Some(900.0), 1), (None, 1)]);
    assert_eq!(publishers(&changed), [(Some(900.0), 1), (None, 4)]);
    // 20 MB a second, four times, would fill a memory.
    let large = held_back.replace("300B", "400KB");
    let more = finding("channel-bound", "orders", "channels of publishers");
    assert!(reason(&large, &case(), more).contains("have rates"));
}

#[test]
fn transactions_are_taken_away() {
    let in_transactions = OBSERVED.replace("confirm-window = 1", "tx-size = 10");
    let transactions = finding("transactions", "orders", "confirm.select");
    let (metric, [observed, changed]) = arms(&in_transactions, &case(), transactions);
    assert_eq!(metric, "end-to-end-intended.p50", "their rates stay");
    let publishers = |of: &Scenario| {
        of.publishers.iter().map(|group| (group.tx_size, group.confirm_window)).collect::<Vec<_>>()
    };
    assert_eq!(publishers(&observed), [(Some(10), None), (Some(10), None)]);
    assert_eq!(publishers(&changed), [(Some(10), None), (None, Some(100))]);
}

#[test]
fn requests_are_beside_the_observed_load_and_its_idle_queues() {
    let mut case = case();
    case.queues.as_mut().unwrap().count = 34;
    let requests = finding("http-load", "", "requests to the management API");
    let (metric, [observed, changed]) = arms(OBSERVED, &case, requests);
    assert_eq!(metric, "broker.cpu-per-message");
    let intervals = [&observed, &changed].map(|of| of.pollers[0].interval.as_millis());
    assert_eq!(intervals, [500, 10_000]);
    for arm in [&observed, &changed] {
        let queues: usize = arm.queues.iter().map(|spec| spec.queue_names().len()).sum();
        assert_eq!((queues, arm.publishers[0].rate), (34, Some(900.0)));
        assert!(broker(arm).plugins.contains(&"rabbitmq_management".to_owned()));
    }
}

#[test]
fn both_arms_have_the_settings_of_the_node() {
    let mut case = case();
    case.queues.as_mut().unwrap().rows[0].kind = QueueKind::Quorum;
    let flags = vec![("+sbwt".to_owned(), "very_long".to_owned())];
    case.vm = Ok(Vm { flags, ..Vm::default() });
    let soft = with_text(
        finding("quorum-soft-limit", "orders", "quorum_commands_soft_limit"),
        "[{rabbit, [{quorum_commands_soft_limit, 256}]}].",
    );
    let (metric, [observed, changed]) = arms(&closed(), &case, soft);
    assert_eq!(metric, "published.rate");
    assert_eq!(broker(&observed).erl_args, "+sbwt very_long");
    assert_eq!(broker(&changed).erl_args, "+sbwt very_long");
    assert!(broker(&changed).advanced_config.contains("quorum_commands_soft_limit"));
    assert_eq!(broker(&observed).advanced_config, "");
    let (metric, [observed, changed]) = arms(OBSERVED, &case, finding("busy-wait", "", ""));
    assert_eq!(metric, "broker.cpu-per-message");
    assert_ne!(broker(&observed).erl_args, broker(&changed).erl_args);
}

#[test]
fn arguments_and_churn_are_found() {
    let version = || finding("classic-paging", "orders", "classic_queue.default_version");
    let (_, [observed, changed]) = arms(OBSERVED, &case(), version());
    let versions = |of: &Scenario| of.queues[1].arguments["x-queue-version"].clone();
    assert_ne!(versions(&observed), versions(&changed));
    assert!(observed.queues[0].arguments.is_empty() && changed.queues[0].arguments.is_empty());
    let mut case = case();
    let churn = Churn { channels_opened: 12.0, ..Churn::default() };
    case.broker.as_mut().unwrap().churn = Some(churn);
    let lasting = || finding("channel-churn", "", "life of channels");
    assert!(reason(OBSERVED, &case, lasting()).contains("came and went"));
    let kinds = ["connections", "channels"]
        .map(|kind| format!("[[churn]]\nname = \"{kind}\"\nkind = \"{kind}\"\nrate = 9\n"));
    let base = format!("{OBSERVED}{}", kinds.concat());
    let (_, [_, changed]) = arms(&base, &case, lasting());
    assert_eq!(
        changed.churn.iter().map(|of| of.rate).collect::<Vec<_>>(),
        [Some(9.0), Some(0.001)]
    );
}

#[test]
fn a_change_that_no_group_can_have_is_shown_on_the_smaller_load() {
    let low = || finding("low-prefetch", "orders", "prefetch");
    let high = OBSERVED.replace("prefetch = 10", "prefetch = 500");
    assert!(reason(&high, &case(), low()).contains("no consumers with a low prefetch"));
    let elsewhere = OBSERVED.replace("\"orders\"", "\"elsewhere\"");
    assert!(reason(&elsewhere, &case(), low()).contains("where the finding is"));
    let queues = finding("queue-bound", "orders", "number of queues");
    assert!(reason(OBSERVED, &case(), queues).contains("numbers of queues"));
    let transactions = finding("transactions", "orders", "confirm.select");
    assert!(reason(OBSERVED, &case(), transactions).contains("no publishers with transactions"));
}
