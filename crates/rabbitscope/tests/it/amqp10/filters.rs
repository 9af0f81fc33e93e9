//! Filters of consumers: by properties, by headers, and by SQL.

use rabbitscope_testing::{
    Workbench, count,
    scenario::{Consumers, Queue, Scenario, raw},
};

use super::{broker, consumers, interoperation::proton, is_native, publishers, release};

/// Fills a stream with 300 messages of another client. Returns whether it is there.
fn marked(bench: &Workbench, stream: &str) -> bool {
    let Some(client) = proton(bench) else { return false };
    let declared = Scenario::new("amqp10-declare")
        .queues(Queue::new(stream).of_type("stream").keep(true))
        .publishers(publishers(stream).rate(0))
        .duration("1s");
    bench.run_on(broker(), declared, "");
    std::fs::remove_dir_all(bench.path("out")).unwrap();
    assert_eq!(client.run(&["mark", stream])["messages"], 300);
    true
}

fn reader(stream: &str, filter: &str) -> Consumers {
    consumers(stream).prefetch(100).offset("first").filter(raw(filter))
}

#[test]
fn a_filter_has_the_messages_of_its_conditions() {
    let bench = Workbench::new("amqp10-filtered");
    if !marked(&bench, "marked") {
        return;
    }
    let check = |filter: &str, since: (u32, u32), name: &str, expected: u64| {
        let _ = std::fs::remove_dir_all(bench.path("out"));
        let scenario = Scenario::new("amqp10-filtered")
            .queues(Queue::new("marked").of_type("stream").predeclared(true))
            .consumers(reader("marked", filter))
            .duration("2s");
        let ended = bench.run_on(broker(), scenario, "");
        if release() >= since {
            ended.code(0);
            assert_eq!(count(&bench.json("out/run.json"), "consumed"), expected, "{filter}");
        } else {
            let said = ended.code(1).stdout;
            assert!(said.contains("does not filter queue `marked` by"), "{filter}: {said}");
            assert!(said.contains(name), "{filter}: {said}");
        }
    };
    let (properties, headers) = ("amqp:properties-filter", "amqp:application-properties-filter");
    check("{ properties = { subject = \"order.2\" } }", (4, 1), properties, 100);
    check("{ properties = { subject = \"&p:order\" } }", (4, 1), properties, 300);
    check("{ properties = { content-type = \"text/plain\" } }", (4, 1), properties, 150);
    check("{ headers = { region = \"eu\" } }", (4, 1), headers, 150);
    check("{ headers = { region = \"&s:s\", number = 7 } }", (4, 1), headers, 1);
    let both = "{ properties = { subject = \"order.0\" }, headers = { region = \"us\" } }";
    check(both, (4, 1), headers, 50);
    let sql = "{ sql = \"number < 10 AND region = 'us'\" }";
    check(sql, (4, 2), "sql-filter", 5);
}

/// Chunks without a value of the filter are not sent.
#[test]
fn values_for_the_filter_of_a_stream_are_in_a_header() {
    let bench = Workbench::new("amqp10-values");
    let of = |value: &str| {
        let properties = format!("{{ headers = {{ x-stream-filter-value = \"{value}\" }} }}");
        publishers("valued").messages(500).confirm_window(100).properties(raw(&properties))
    };
    let fill = |value: &str| {
        let scenario = Scenario::new("amqp10-values")
            .queues(Queue::new("valued").of_type("stream").keep(true))
            .publishers(of(value))
            .duration("60s");
        bench.run_on(broker(), scenario, "").code(0);
        std::fs::remove_dir_all(bench.path("out")).unwrap();
    };
    // The chunks of a value have no other.
    fill("a");
    fill("b");
    let filter = raw("{ x-stream-filter = \"a\" }");
    let read = Scenario::new("amqp10-values")
        .queues(Queue::new("valued").of_type("stream").predeclared(true))
        .consumers(consumers("valued").prefetch(100).offset("first").arguments(filter))
        .duration("2s");
    let ended = bench.run_on(broker(), read, "");
    if is_native() {
        ended.code(0);
        assert_eq!(count(&bench.json("out/run.json"), "consumed"), 500);
    } else {
        ended.code(1);
    }
}
