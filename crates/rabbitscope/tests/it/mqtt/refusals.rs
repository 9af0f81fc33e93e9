//! Keys that MQTT does not have, and brokers without it.

use rabbitscope_testing::{Workbench, existing_broker, scenario::Scenario};

use super::{publishers, readers};

#[test]
fn a_broker_without_mqtt_is_named_with_the_next_step() {
    let bench = Workbench::new("mqtt-none");
    let scenario = Scenario::new("mqtt-none").publishers(publishers("none")).duration("2s");
    let ended = bench.run_on(existing_broker(), scenario, "--set broker.connect-timeout=2s");
    ended.code(5).says(&["no server of MQTT answers at", "rabbitmq_mqtt", "mqtt_port"]);
}

#[test]
fn keys_of_other_protocols_are_refused_by_name() {
    let bench = Workbench::new("mqtt-keys");
    let check = |change: &str, says: &[&str]| {
        let scenario = Scenario::new("keys")
            .publishers(publishers("a/b"))
            .consumers(readers(&["a/+"]))
            .duration("2s");
        bench.file("s.toml", scenario);
        bench.rabbitscope(&format!("run s.toml --out out --set {change}")).code(2).says(says);
    };
    check("publishers.0.tx-size=10", &["publishers.0.tx-size", "no transactions"]);
    check("publishers.0.persistent=true", &["publishers.0.persistent", "`qos`"]);
    check("publishers.0.confirms=false", &["publishers.0.confirms", "qos = 1"]);
    check("publishers.0.qos=2", &["publishers.0.qos", "0 or 1"]);
    check("publishers.0.topic=a/+", &["publishers.0.topic", "wildcards"]);
    check("publishers.0.exchange=amq.direct", &["publishers.0.exchange", "`amq.topic`"]);
    check("consumers.0.prefetch=10", &["consumers.0.prefetch", "mqtt-version"]);
    check("consumers.0.multi-ack-every=10", &["consumers.0.multi-ack-every", "one message"]);
    check("consumers.0.nack=true", &["consumers.0.nack"]);
    check("consumers.0.polling=true", &["consumers.0.polling"]);
    check("consumers.0.exclusive=true", &["consumers.0.exclusive"]);
    check("consumers.0.queue=q", &["consumers.0.queue", "`topics`"]);
}

#[test]
fn perftest_options_are_for_other_protocols() {
    let bench = Workbench::new("mqtt-load");
    bench.rabbitscope("load --protocol mqtt -x 1 -y 1").code(2).says(&["MQTT", "scenario"]);
}
