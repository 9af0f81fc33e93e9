//! What the stream protocol does not have, and brokers without it.

use rabbitscope_testing::{
    Workbench, broker_with, existing_broker,
    scenario::{Queue, Scenario},
};

use super::{publishers, readers, stream};

#[test]
fn a_broker_without_streams_is_named_with_the_next_step() {
    let bench = Workbench::new("streams-none");
    let scenario = Scenario::new("streams-none")
        .queues(Queue::new("streams-none-1").of_type("stream"))
        .publishers(publishers("streams-none-1"))
        .duration("2s");
    let ended = bench.run_on(existing_broker(), scenario, "--set broker.connect-timeout=2s");
    ended.code(5).says(&["no server of streams answers at", "rabbitmq_stream", "stream_port"]);
}

#[test]
fn a_queue_that_is_no_stream_is_named() {
    let bench = Workbench::new("streams-refused");
    let broker = broker_with(|spec| spec.plugins.push("rabbitmq_stream".to_owned()));
    rabbitscope_testing::declare_queue(&broker, "classic");
    let scenario = Scenario::new("streams-refused")
        .queues(stream("classic").predeclared(true))
        .publishers(publishers("classic"))
        .duration("2s");
    let ended = bench.run_on(&broker, scenario, "");
    ended.code(1).says(&["refused", "stream `classic`", "stream does not exist (2)"]);
}

#[test]
fn keys_of_other_protocols_are_refused_by_name() {
    let bench = Workbench::new("streams-keys");
    let check = |change: &str, says: &[&str]| {
        let scenario = Scenario::new("keys")
            .queues(stream("s"))
            .publishers(publishers("s"))
            .consumers(readers("s"))
            .duration("2s");
        bench.file("s.toml", scenario);
        bench.rabbitscope(&format!("run s.toml --out out --set {change}")).code(2).says(says);
    };
    check("publishers.0.tx-size=10", &["publishers.0.tx-size", "no transactions"]);
    check("publishers.0.persistent=true", &["publishers.0.persistent"]);
    check("publishers.0.confirms=false", &["publishers.0.confirms", "confirm every message"]);
    check("publishers.0.compression=gzip", &["publishers.0.compression", "sub-entry-size"]);
    check("publishers.0.sub-entry-size=0", &["publishers.0.sub-entry-size", "1 to 65535"]);
    let both = "publishers.0.sub-entry-size=5 --set publishers.0.reference=true";
    check(both, &["publishers.0.sub-entry-size", "sent again"]);
    check("consumers.0.prefetch=10", &["consumers.0.prefetch", "credit"]);
    check("consumers.0.nack=true", &["consumers.0.nack"]);
    check("consumers.0.credit=0", &["consumers.0.credit", "1 to 65535"]);
    check("queues.0.type=quorum", &["protocol", "`s` is no stream"]);
    check("publishers.0.protocol=amqp", &["protocol", "amqp-0-9-1"]);
}
