//! MQTT 5, on brokers that have it and on those that do not.

use rabbitscope_testing::{
    Workbench, count, not_run,
    scenario::{Publishers, Scenario},
};

use super::{broker, publishers, readers};

/// Returns whether the broker speaks MQTT 5.
pub(super) fn has_version_five() -> bool {
    let version = broker().eval("rabbit_misc:version().").unwrap();
    let mut numbers = version.trim_matches('"').split('.').map(|part| part.parse().unwrap_or(0));
    (numbers.next(), numbers.next()) >= (Some(3), Some(13))
}

#[test]
fn a_broker_without_version_five_is_told_so() {
    if has_version_five() {
        return not_run("the broker speaks MQTT 5");
    }
    let bench = Workbench::new("mqtt-old");
    let scenario =
        Scenario::new("mqtt-old").publishers(publishers("old").mqtt_version("5")).duration("2s");
    let ended = bench.run_on(broker(), scenario, "");
    ended.code(1).says(&["does not speak MQTT 5, which RabbitMQ has since 3.13", "MQTT 3.1.1"]);
}

#[test]
fn version_five_has_the_same_messages() {
    if !has_version_five() {
        return not_run("the broker does not speak MQTT 5");
    }
    let bench = Workbench::new("mqtt-five");
    let scenario = Scenario::new("mqtt-five")
        .publishers(publishers("five/{}").to(3).count(3).mqtt_version("5").messages(2000))
        .consumers(readers(&["five/+"]).mqtt_version("5").prefetch(200).messages(6000))
        .verify(true)
        .duration("60s");
    let text = bench.run_on(broker(), scenario, "").code(0).stdout;
    assert!(text.contains("Of 6000 accepted messages 0 lost, 0 duplicates"), "{text}");
}

/// A broker takes 16 aliases by default. The other topics have their names.
#[test]
fn aliases_stand_for_topics() {
    if !has_version_five() {
        return not_run("the broker does not speak MQTT 5");
    }
    let bench = Workbench::new("mqtt-alias");
    let written = |is_aliased: bool| {
        let _ = std::fs::remove_dir_all(bench.path("out"));
        let scenario = Scenario::new("mqtt-alias")
            .publishers(
                publishers("alias/of/a/rather/long/topic/{}")
                    .to(20)
                    .mqtt_version("5")
                    .topic_alias(is_aliased)
                    .messages(2000),
            )
            .consumers(readers(&["alias/#"]).messages(2000))
            .verify(true)
            .duration("60s");
        let text = bench.run_on(broker(), scenario, "").code(0).stdout;
        assert!(text.contains("Of 2000 accepted messages 0 lost, 0 duplicates"), "{text}");
        count(&bench.json("out/run.json"), "bytes-written")
    };
    let (with, without) = (written(true), written(false));
    // 16 of 20 topics have two bytes in place of 31 or 32, and three more of the alias.
    assert!(without - with > 1500 * 25, "{with} and {without} bytes");
}

/// MQTT 5 tells that no queue takes a message. The broker accepts it nevertheless.
#[test]
fn unroutable_messages_are_returned_in_version_five() {
    if !has_version_five() {
        return not_run("the broker does not speak MQTT 5");
    }
    let bench = Workbench::new("mqtt-unroutable");
    let scenario = Scenario::new("mqtt-unroutable")
        .publishers(publishers("nobody/listens").mqtt_version("5").messages(500))
        .publishers(Publishers::to_topic("nobody/hears").protocol("mqtt").messages(300))
        .duration("30s");
    bench.run_on(broker(), scenario, "");
    let run = bench.json("out/run.json");
    assert_eq!((count(&run, "returned"), count(&run, "confirmed")), (500, 800));
}
