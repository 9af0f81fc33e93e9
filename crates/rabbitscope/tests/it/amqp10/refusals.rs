//! What AMQP 1.0 does not have, and brokers without it.

use rabbitscope_testing::{
    Workbench, existing_broker,
    scenario::{Queue, Scenario, raw},
};

use super::{broker, consumers, is_native, publishers};

/// Before 4.0 a plugin speaks it.
#[test]
fn a_broker_without_the_protocol_is_named_with_the_next_step() {
    let bench = Workbench::new("amqp10-none");
    let scenario = Scenario::new("amqp10-none")
        .queues(Queue::new("amqp10-none-1"))
        .publishers(publishers("amqp10-none-1").messages(1))
        .duration("2s");
    let ended = bench.run_on(existing_broker(), scenario, "--set broker.connect-timeout=2s");
    if is_native() {
        ended.code(0);
    } else {
        ended.code(5).says(&["does not speak AMQP 1.0", "rabbitmq_amqp1_0"]);
    }
}

#[test]
fn a_missing_queue_is_named() {
    let bench = Workbench::new("amqp10-missing");
    let scenario = Scenario::new("amqp10-missing")
        .queues(Queue::new("there").predeclared(true))
        .consumers(consumers("there").prefetch(10))
        .duration("2s");
    let ended = bench.run_on(broker(), scenario, "");
    ended.code(1).says(&["queue `there`"]);
}

/// Before 4.0 the broker repeats filters that it does not know.
#[test]
fn filters_are_in_place_or_end_the_run() {
    let bench = Workbench::new("amqp10-filter");
    let filter = raw("{ x-stream-filter = [\"a\", \"b\"], x-stream-match-unfiltered = true }");
    let scenario = Scenario::new("amqp10-filter")
        .queues(Queue::new("filtered").of_type("stream"))
        .consumers(consumers("filtered").prefetch(10).offset("first").arguments(filter))
        .duration("2s");
    let ended = bench.run_on(broker(), scenario, "");
    if is_native() {
        ended.code(0);
    } else {
        let said = ended.code(1).stdout;
        assert!(said.contains("queue `filtered` by rabbitmq:stream-offset-spec"), "{said}");
    }
}

#[test]
fn keys_of_other_protocols_are_refused_by_name() {
    let bench = Workbench::new("amqp10-keys-refused");
    let check = |change: &str, says: &[&str]| {
        let scenario = Scenario::new("keys")
            .queues(Queue::new("q"))
            .publishers(publishers("q"))
            .consumers(consumers("q"))
            .duration("2s");
        bench.file("s.toml", scenario);
        bench.rabbitscope(&format!("run s.toml --out out --set {change}")).code(2).says(says);
    };
    check("publishers.0.tx-size=10", &["publishers.0.tx-size", "no transactions"]);
    check("publishers.0.mandatory=true", &["publishers.0.mandatory"]);
    check("publishers.0.properties.app-id=a", &["publishers.0.properties.app-id"]);
    check("publishers.0.reference=true", &["publishers.0.reference", "stream protocol"]);
    check("consumers.0.credit=10", &["consumers.0.credit", "prefetch"]);
    check("consumers.0.polling=true", &["consumers.0.polling"]);
    check("consumers.0.exclusive=true", &["consumers.0.exclusive"]);
    check("publishers.0.protocol=amqp10", &["protocol", "amqp-1.0"]);
}
