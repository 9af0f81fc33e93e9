//! Messages by MQTT, by AMQP 0-9-1, and from one to the other: none lost, none twice, all in order.

use rabbitscope_testing::{
    Workbench, count, latency_figure, plant,
    scenario::{Consumers, Publishers, Queue, Scenario, raw},
};

use super::{broker, publishers, readers};

#[test]
fn both_protocols_meet_in_topics() {
    let bench = Workbench::new("mqtt-meet");
    let scenario = Scenario::new("mqtt-meet")
        .queues(Queue::new("meet").bound("amq.topic", "meet.#"))
        .publishers(publishers("meet/a b/ü").name("by mqtt").count(3).messages(2000).size("300B"))
        .publishers(
            Publishers::through("amq.topic", "meet.amqp")
                .name("by amqp")
                .messages(2000)
                .confirm_window(500),
        )
        .consumers(Consumers::new("meet").name("amqp").prefetch(100).messages(8000))
        .consumers(readers(&["meet/+/ü", "meet/amqp"]).name("mqtt").count(2).messages(8000))
        .verify(true)
        .duration("60s");
    let text = bench.run_on(broker(), scenario, "").code(0).stdout;
    assert!(
        text.contains("Of 8000 accepted messages 0 lost, 0 duplicates, 0 out of order"),
        "{text}"
    );
    let run = bench.json("out/run.json");
    for (key, expected) in [("published", 8000), ("confirmed", 8000), ("consumed", 3 * 8000)] {
        assert_eq!(count(&run, key), expected, "{key}");
    }
    assert_eq!(latency_figure(&run, "end-to-end", "count"), 3 * 8000);
    assert_eq!(count(&run, "consumed-item-bytes"), 3 * (6000 * 300 + 2000 * 12));
    assert_eq!(count(&run, "settled"), 3 * 8000);
}

/// A publisher has 65,535 packet identifiers. A message has the same one as another 65,535 before it.
#[test]
fn identifiers_wrap_twice() {
    let bench = Workbench::new("mqtt-wrap");
    let scenario = Scenario::new("mqtt-wrap")
        .queues(Queue::new("wrap").bound("amq.topic", "wrap"))
        .publishers(publishers("wrap").messages(140_000).confirm_window(2000))
        .consumers(Consumers::new("wrap").prefetch(2000).messages(140_000))
        .verify(true)
        .duration("120s");
    let text = bench.run_on(broker(), scenario, "").code(0).stdout;
    assert!(text.contains("Of 140000 accepted messages 0 lost, 0 duplicates"), "{text}");
    let run = bench.json("out/run.json");
    for key in ["published", "confirmed", "consumed"] {
        assert_eq!(count(&run, key), 140_000, "{key}");
    }
}

/// Without a window, the identifiers limit the publisher. The wait for them is a figure, and no lateness.
#[test]
fn identifiers_limit_messages_without_a_window() {
    let bench = Workbench::new("mqtt-credit");
    let scenario = Scenario::new("mqtt-credit")
        .queues(Queue::new("credit").bound("amq.topic", "credit"))
        .publishers(publishers("credit").messages(200_000))
        .consumers(Consumers::new("credit").prefetch(500).messages(200_000))
        .duration("120s");
    bench.run_on(broker(), scenario, "").code(0);
    let run = bench.json("out/run.json");
    assert_eq!((count(&run, "confirmed"), count(&run, "consumed")), (200_000, 200_000));
    assert_eq!(count(&run, "window-full-nanos"), 0);
    assert!(count(&run, "credit-wait-nanos") > 0, "{run:#}");
}

#[test]
fn quality_of_service_0_has_no_confirms() {
    let bench = Workbench::new("mqtt-qos0");
    let scenario = Scenario::new("mqtt-qos0")
        .publishers(publishers("qos0/{}").to(10).qos(0).count(2).rate(500).messages(1000))
        .consumers(readers(&["qos0/#"]).qos(0).messages(2000))
        .duration("60s");
    bench.run_on(broker(), scenario, "").code(0);
    let run = bench.json("out/run.json");
    assert_eq!((count(&run, "published"), count(&run, "confirmed")), (2000, 0));
    assert_eq!(count(&run, "accepted"), 2000, "pings tell that the broker has read them");
    assert_eq!((count(&run, "consumed"), count(&run, "delivered")), (2000, 2000));
}

#[test]
fn topics_rotate_and_sizes_change() {
    let bench = Workbench::new("mqtt-rotate");
    let sizes = r#"[{ size = "12B", for = "1s" }, { size = "70KB", for = "1s" }]"#;
    let scenario = Scenario::new("mqtt-rotate")
        .publishers(
            Publishers::to_topics(&["rotate/a", "rotate/b", "rotate/c/d"])
                .protocol("mqtt")
                .sizes(raw(sizes))
                .rate(300)
                .messages(900),
        )
        .consumers(readers(&["rotate/+"]).name("two").messages(600))
        .consumers(readers(&["rotate/#"]).name("three").messages(900))
        .duration("60s");
    bench.run_on(broker(), scenario, "").code(0);
    assert_eq!(count(&bench.json("out/run.json"), "consumed"), 1500);
}

/// The broker sends ten messages ahead. A reader that takes 5 ms for each has the next when it has acknowledged one.
#[test]
fn a_slow_reader_holds_the_broker_back() {
    let bench = Workbench::new("mqtt-slow");
    let scenario = Scenario::new("mqtt-slow")
        .publishers(publishers("slow").rate(1000))
        .consumers(readers(&["slow"]).processing_time("5ms"))
        .duration("4s");
    bench.run_on(broker(), scenario, "").code(0);
    let run = bench.json("out/run.json");
    let [published, delivered, consumed] =
        ["published", "delivered", "consumed"].map(|key| count(&run, key));
    assert!((3900..4100).contains(&published), "{published}");
    assert!((300..1300).contains(&consumed), "{consumed}");
    assert!(delivered <= consumed + 20, "{delivered} delivered, {consumed} consumed");
}

/// A reader that begins later has the later messages only.
#[test]
fn a_late_reader_subscribes_late() {
    let bench = Workbench::new("mqtt-late");
    let scenario = Scenario::new("mqtt-late")
        .publishers(publishers("late").rate(500).messages(1500))
        .consumers(readers(&["late"]).start_delay("2s"))
        .verify(true)
        .duration("4s");
    let text = bench.run_on(broker(), scenario, "").code(0).stdout;
    assert!(text.contains("0 lost, 0 duplicates, 0 out of order"), "{text}");
    let consumed = count(&bench.json("out/run.json"), "consumed");
    assert!((400..600).contains(&consumed), "{consumed}");
}

/// The user's name has the virtual host before it.
#[test]
fn another_virtual_host_has_its_own_topics() {
    let bench = Workbench::new("mqtt-vhost");
    let (user, _) = broker().login();
    plant(
        broker(),
        &format!(
            "rabbit_vhost:add(<<\"mqtt v\">>, <<\"test\">>), \
             rabbit_auth_backend_internal:set_permissions(<<\"{user}\">>, <<\"mqtt v\">>, <<\".*\">>, <<\".*\">>, \
             <<\".*\">>, <<\"test\">>), ok."
        ),
    );
    let scenario = Scenario::new("mqtt-vhost")
        .queues(Queue::new("here").bound("amq.topic", "here"))
        .publishers(publishers("here").messages(100))
        .consumers(Consumers::new("here").prefetch(10).messages(100))
        .consumers(readers(&["here"]).name("mqtt").messages(100))
        .verify(true)
        .duration("30s");
    bench.file("s.toml", scenario);
    let uri = broker().uris()[0].replace("/%2f", "/mqtt%20v");
    let text = bench.rabbitscope(&format!("run s.toml --uri {uri} --out out")).code(0).stdout;
    assert!(text.contains("Of 100 accepted messages 0 lost"), "{text}");
    assert_eq!(count(&bench.json("out/run.json"), "consumed"), 200);
}

/// A throwaway broker has the plugin by itself.
#[test]
fn a_new_broker_speaks_mqtt() {
    let bench = Workbench::new("mqtt-new");
    let scenario = Scenario::new("mqtt-new")
        .publishers(publishers("new").messages(100))
        .consumers(readers(&["new"]).messages(100))
        .verify(true)
        .duration("30s");
    bench.file("s.toml", scenario);
    let text = bench.rabbitscope("run s.toml --out out").code(0).stdout;
    assert!(text.contains("Of 100 accepted messages 0 lost"), "{text}");
    assert!(bench.read("out/scenario.toml").contains("rabbitmq_mqtt"));
}

/// The packets of the run have the messages that the load counts.
#[test]
fn packets_beside_a_run_count_the_same() {
    let Some(bench) = Workbench::for_root("mqtt-packets") else { return };
    let scenario = Scenario::new("mqtt-packets")
        .publishers(publishers("seen").rate(500).messages(1500))
        .consumers(readers(&["seen"]).messages(1500))
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
