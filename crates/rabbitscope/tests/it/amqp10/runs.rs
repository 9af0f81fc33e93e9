//! Messages by AMQP 1.0, by AMQP 0-9-1, and from one to the other: none lost, none twice, all in order.

use rabbitscope_testing::{
    Workbench, count, depth, latency_figure, not_run,
    scenario::{Consumers, Publishers, Queue, Scenario},
};

use super::{broker, consumers, is_native, publishers, through};

#[test]
fn both_versions_meet_in_queues() {
    let bench = Workbench::new("amqp10-meet");
    let scenario = Scenario::new("amqp10-meet")
        .queues(Queue::new("meet-a"))
        .queues(Queue::new("mü/et % b"))
        .publishers(
            publishers("meet-a")
                .name("by 1.0")
                .count(3)
                .messages(2000)
                .size("300B")
                .confirm_window(500),
        )
        .publishers(
            Publishers::new("mü/et % b").name("by 0-9-1").messages(2000).confirm_window(500),
        )
        .consumers(Consumers::new("meet-a").name("0-9-1").prefetch(100).messages(6000))
        .consumers(consumers("mü/et % b").name("1.0").prefetch(100).messages(2000))
        .verify(true)
        .duration("60s");
    let text = bench.run_on(broker(), scenario, "").code(0).stdout;
    assert!(
        text.contains("Of 8000 accepted messages 0 lost, 0 duplicates, 0 out of order"),
        "{text}"
    );
    let run = bench.json("out/run.json");
    for (key, expected) in
        [("published", 8000), ("confirmed", 8000), ("consumed", 8000), ("settled", 8000)]
    {
        assert_eq!(count(&run, key), expected, "{key}");
    }
    assert_eq!(latency_figure(&run, "end-to-end", "count"), 8000);
    assert_eq!(count(&run, "consumed-item-bytes"), 6000 * 300 + 2000 * 12);
}

/// Messages of several frames, sizes that change, and bodies without a stamp.
#[test]
fn bodies_have_any_size() {
    let bench = Workbench::new("amqp10-sizes");
    for (size, messages) in [(0, 50), (1, 50), (255, 50), (256, 50), (131_072, 50), (300_000, 50)] {
        let scenario = Scenario::new("amqp10-sizes")
            .queues(Queue::new("sizes"))
            .publishers(
                publishers("sizes").messages(messages).size(format!("{size}B")).confirm_window(10),
            )
            .consumers(consumers("sizes").prefetch(10).messages(messages))
            .duration("60s");
        bench.run_on(broker(), scenario, "").code(0);
        let run = bench.json("out/run.json");
        let bytes = count(&run, "consumed-item-bytes");
        assert_eq!(bytes, size * u64::try_from(messages).unwrap(), "{size}");
        std::fs::remove_dir_all(bench.path("out")).unwrap();
    }
}

#[test]
fn many_members_share_connections() {
    let bench = Workbench::new("amqp10-many");
    let scenario = Scenario::new("amqp10-many")
        .queues(Queue::new("many-{}").from(1).to(20))
        .publishers(publishers("many-{}").count(40).connections(3).messages(50).confirm_window(20))
        .consumers(
            consumers("many-{}")
                .count(20)
                .connections(2)
                .messages(100)
                .prefetch(10)
                .multi_ack_every(4),
        )
        .verify(true)
        .duration("60s");
    let text = bench.run_on(broker(), scenario, "").code(0).stdout;
    assert!(
        text.contains("Of 2000 accepted messages 0 lost, 0 duplicates, 0 out of order"),
        "{text}"
    );
    assert_eq!(count(&bench.json("out/run.json"), "settled"), 2000);
}

/// An exchange is the target, and each message has its key.
#[test]
fn keys_of_an_exchange_take_turns() {
    let bench = Workbench::new("amqp10-keys");
    let keys = toml::Value::Array(vec!["a/b".into(), "c d".into(), "e".into()]);
    let scenario = Scenario::new("amqp10-keys")
        .queues(Queue::new("keys-1").bound("amq.direct", "a/b").keep(true))
        .queues(Queue::new("keys-2").bound("amq.direct", "c d").keep(true))
        .publishers(through("amq.direct", "").routing_keys(keys).messages(300).confirm_window(100))
        .publishers(through("amq.direct", "a/b").name("fixed").messages(10).confirm_window(100))
        .duration("60s");
    bench.run_on(broker(), scenario, "").code(0);
    assert_eq!([depth(broker(), "keys-1"), depth(broker(), "keys-2")], ["110", "100"]);
    let run = bench.json("out/run.json");
    let returned = if is_native() { 100 } else { 0 };
    assert_eq!((count(&run, "returned"), count(&run, "confirmed")), (returned, 310));
}

/// The broker forgets messages as it sends them. Without a window every message has its outcome.
#[test]
fn settled_messages_need_no_answer() {
    let bench = Workbench::new("amqp10-settled");
    let scenario = Scenario::new("amqp10-settled")
        .queues(Queue::new("settled"))
        .publishers(publishers("settled").messages(5000))
        .consumers(consumers("settled").auto_ack(true).messages(5000))
        .verify(true)
        .duration("60s");
    let text = bench.run_on(broker(), scenario, "").code(0).stdout;
    let all = "Of 5000 accepted messages 0 lost, 0 duplicates, 0 out of order";
    assert!(text.contains(all), "{text}");
    let run = bench.json("out/run.json");
    for key in ["published", "confirmed", "consumed"] {
        assert_eq!(count(&run, key), 5000, "{key}");
    }
}

/// PerfTest's options, on a throwaway broker that has the plugin if it needs one.
#[test]
fn a_load_by_options_is_one_of_amqp_1_0() {
    let bench = Workbench::new("amqp10-options");
    let words = "load --protocol amqp-1.0 -x 1 -y 2 -c 50 -q 20 -A 5 -C 600 -D 300 -z 60 --out out";
    bench.rabbitscope(words).code(0);
    let run = bench.json("out/run.json");
    for key in ["published", "confirmed", "consumed"] {
        assert_eq!(count(&run, key), 600, "{key}");
    }
    assert!(bench.read("out/scenario.toml").contains("protocol = \"amqp-1.0\""));
}

/// A consumer that takes 5 ms for each message holds the broker back.
#[test]
fn a_slow_consumer_has_no_more_than_its_prefetch() {
    let bench = Workbench::new("amqp10-slow");
    let scenario = Scenario::new("amqp10-slow")
        .queues(Queue::new("slow"))
        .publishers(publishers("slow").rate(1000).confirm_window(5000))
        .consumers(consumers("slow").prefetch(20).processing_time("5ms"))
        .duration("4s");
    bench.run_on(broker(), scenario, "").code(0);
    let run = bench.json("out/run.json");
    let [published, delivered, consumed] =
        ["published", "delivered", "consumed"].map(|key| count(&run, key));
    assert!((3900..4100).contains(&published), "{published}");
    assert!((300..1300).contains(&consumed), "{consumed}");
    assert!(delivered <= consumed + 20, "{delivered} delivered, {consumed} consumed");
}

/// RabbitMQ lets a link have 339 messages without an outcome from 4.0 on, and 65,536 before, whatever the window. Before, a
/// window of as many would keep the queue busy for seconds after the load.
#[test]
fn the_wait_for_credit_is_a_figure() {
    let bench = Workbench::new("amqp10-credit");
    let window = if is_native() { 100_000 } else { 1_000 };
    let scenario = Scenario::new("amqp10-credit")
        .queues(Queue::new("credit").of_type("quorum"))
        .publishers(publishers("credit").confirm_window(window).persistent(true))
        .duration("4s");
    let text = bench.run_on(broker(), scenario, "").code(0).stdout;
    let run = bench.json("out/run.json");
    let waited = count(&run, "credit-wait-nanos");
    assert_eq!(count(&run, "late-by-client"), 0);
    if is_native() {
        assert!(waited > 2_000_000_000, "{waited}");
        assert!(text.contains("limited by the broker's credit"), "{text}");
        let [published, confirmed] = ["published", "confirmed"].map(|key| count(&run, key));
        assert!(published <= confirmed + 339, "{published} published, {confirmed} confirmed");
    }
}

/// The broker sends whole chunks to its own reader, which begins at the offset.
#[test]
fn an_offset_of_a_stream_is_exact() {
    if !is_native() {
        return not_run("RabbitMQ has no offsets of AMQP 1.0 before 4.0");
    }
    let bench = Workbench::new("amqp10-offset");
    let fill = Scenario::new("amqp10-fill")
        .queues(Queue::new("offsets").of_type("stream").keep(true))
        .publishers(publishers("offsets").messages(1000).confirm_window(100))
        .duration("60s");
    bench.run_on(broker(), fill, "").code(0);
    std::fs::remove_dir_all(bench.path("out")).unwrap();
    let read = Scenario::new("amqp10-read")
        .queues(Queue::new("offsets").of_type("stream").predeclared(true))
        .consumers(consumers("offsets").prefetch(50).offset(317).messages(683))
        .duration("60s");
    bench.run_on(broker(), read, "").code(0);
    assert_eq!(count(&bench.json("out/run.json"), "consumed"), 683);
}

/// The packets of the run have the messages that the load counts.
#[test]
fn packets_beside_a_run_count_the_same() {
    let Some(bench) = Workbench::for_root("amqp10-packets") else { return };
    let scenario = Scenario::new("amqp10-packets")
        .queues(Queue::new("seen"))
        .publishers(publishers("seen").rate(500).messages(1500).confirm_window(1000))
        .consumers(consumers("seen").prefetch(100).messages(1500))
        .duration("30s")
        .text("[packets]\nduration = \"20s\"\n");
    bench.file("s.toml", scenario);
    bench.rabbitscope("run s.toml --out out").code(0);
    let totals = &bench.json("out/packets.json")["totals"];
    assert_eq!(
        (&totals["published"], &totals["delivered"]),
        (&1500.into(), &1500.into()),
        "{totals:#}"
    );
}
