//! Groups of MQTT.

use super::*;

const MQTT: &str = r#"
    name = "m"
    run.duration = "1s"
    queues = [{ name = "q", bindings = [{ exchange = "amq.topic", routing-key = "a.#" }] }]
    publishers = [{ topic = "a/{}/c", to = 3, protocol = "mqtt", count = 4 }]
    consumers = [{ topics = ["a/+/c", "b/#"], protocol = "mqtt", count = 2, rate = 5 }]
"#;

#[test]
fn a_resolved_group_reads_back_the_same() {
    let scenario = read(MQTT, &[]).unwrap();
    assert_eq!(parse(&scenario.to_toml(), "resolved", &[]).unwrap(), scenario);
    let (publishers, consumers) = (&scenario.publishers[0], &scenario.consumers[0]);
    assert_eq!((publishers.exchange(), publishers.routing_key()), ("amq.topic", "a.{}.c"));
    assert_eq!((publishers.qos, publishers.confirm_window), (Some(1), Some(NO_WINDOW)));
    assert_eq!((publishers.connections, publishers.channels, publishers.persistent), (4, 1, None));
    assert_eq!((consumers.qos, consumers.auto_ack, consumers.connections), (Some(1), false, 2));
    assert_eq!(scenario.sources(consumers), ["mqtt a/+/c b/#"]);
    let BrokerSpec::Throwaway(broker) = &scenario.broker.spec else { panic!("it is new") };
    assert_eq!(broker.plugins, ["rabbitmq_mqtt"]);
}

#[test]
fn without_acknowledgements_nothing_is_confirmed() {
    let free = ["publishers.0.qos=0", "consumers.0.qos=0"];
    let error = read(MQTT, &free).unwrap_err().to_string();
    assert!(error.contains("consumers.0.rate"), "nothing holds the broker back: {error}");
    let text = MQTT.replace(", rate = 5", "");
    let scenario = read(&text, &free).unwrap();
    assert_eq!(parse(&scenario.to_toml(), "resolved", &[]).unwrap(), scenario);
    assert_eq!(
        (scenario.publishers[0].confirm_window, scenario.consumers[0].auto_ack),
        (None, true)
    );
    assert_eq!(read(&text, &["consumers.0.auto-ack=true"]).unwrap().consumers[0].qos, Some(0));
    let error = read(&text, &["publishers.0.qos=0", "publishers.0.confirm-window=5"]).unwrap_err();
    assert!(error.to_string().contains("publishers.0.confirm-window"), "{error}");
}

#[test]
fn topics_are_routing_keys_with_other_separators() {
    let keys = |change: &[&str]| {
        let text = MQTT.replace("topic = \"a/{}/c\", to = 3, ", "");
        read(&text, change).map(|scenario| scenario.publishers[0].clone())
    };
    let listed = keys(&["publishers.0.topics=[\"a/b\", \"c ü\"]"]).unwrap();
    assert_eq!(listed.routing_keys.unwrap(), ["a.b", "c ü"]);
    let given = keys(&["publishers.0.exchange=amq.topic", "publishers.0.routing-key=a.b"]).unwrap();
    assert_eq!(given.routing_key(), "a.b");
    assert_eq!(keys(&["publishers.0.random-routing-keys=9"]).unwrap().exchange(), "amq.topic");
    let missing = keys(&[]).unwrap_err().to_string();
    assert!(missing.contains("publishers.0.topic") && missing.contains("missing"), "{missing}");
}

#[test]
fn what_the_protocol_lacks_is_refused() {
    let refused = |change: &str, says: &[&str]| {
        let error = read(MQTT, &[change]).unwrap_err().to_string();
        assert!(says.iter().all(|part| error.contains(part)), "{change}: {error}");
    };
    refused("publishers.0.connections=2", &["publishers.0.connections", "client identifier"]);
    refused("publishers.0.channels=2", &["publishers.0.channels", "no channels"]);
    refused("publishers.0.queue=q", &["publishers.0.queue", "`amq.topic`"]);
    refused("publishers.0.mandatory=true", &["publishers.0.mandatory"]);
    refused("publishers.0.properties.priority=1", &["publishers.0.properties"]);
    refused("publishers.0.compression=gzip", &["publishers.0.compression"]);
    refused("publishers.0.body=json", &["publishers.0.body", "mqtt-version"]);
    refused("publishers.0.routing-key=x", &["publishers.0.topic"]);
    refused("publishers.0.mqtt-version=4", &["publishers.0.mqtt-version", "3.1.1"]);
    refused("publishers.0.protocol=amqp-0-9-1", &["publishers.0.topic", "mqtt"]);
    refused("consumers.0.topics=[]", &["consumers.0.topics", "missing"]);
    refused("consumers.0.topics=[\"a/#/b\"]", &["consumers.0.topics", "`a/#`"]);
    refused("consumers.0.topics=[\"a+\"]", &["consumers.0.topics"]);
    refused("consumers.0.topics=[\"$share/g/a\"]", &["consumers.0.topics", "shared"]);
    refused("consumers.0.queue=q", &["consumers.0.queue"]);
    refused("consumers.0.prefetch=5", &["consumers.0.prefetch", "`mqtt.prefetch`"]);
    read(MQTT, &["consumers.0.prefetch=5", "consumers.0.mqtt-version=\"5\""]).unwrap();
    read(MQTT, &["consumers.0.prefetch=5", "consumers.0.mqtt-version=5"]).unwrap();
    refused("publishers.0.topic-alias=true", &["publishers.0.topic-alias", "mqtt-version"]);
    read(MQTT, &["publishers.0.topic-alias=true", "publishers.0.mqtt-version=5"]).unwrap();
    refused("publishers.0.mqtt-version=3.1", &["publishers.0.mqtt-version"]);
    refused("consumers.0.arguments.x-priority=1", &["consumers.0.arguments"]);
    refused("run.until=empty", &["run.until", "MQTT"]);
}

/// The resolved scenario has the URI, and workers of a fleet read it again.
#[test]
fn a_uri_has_the_ports_of_protocols() {
    let uri = "broker.uri=\"amqp://h/v?heartbeat=9&stream_port=5&mqtt_port=7\"";
    let scenario = read(MQTT, &[uri]).unwrap();
    assert_eq!(parse(&scenario.to_toml(), "resolved", &[]).unwrap(), scenario);
    let error = read(MQTT, &["broker.uri=\"amqp://h/v?mqtt=7\""]).unwrap_err().to_string();
    assert!(error.contains("`mqtt_port`"), "{error}");
}

#[test]
fn messages_of_version_five_have_properties() {
    let five = "publishers.0.mqtt-version=5";
    let given = [
        five,
        "publishers.0.body=json",
        "publishers.0.properties.headers={ a = \"b\" }",
        "publishers.0.properties.expiration=5s",
        "publishers.0.properties.reply-to=r",
    ];
    let scenario = read(MQTT, &given).unwrap();
    assert_eq!(parse(&scenario.to_toml(), "resolved", &[]).unwrap(), scenario);
    let refused = |change: &str, says: &[&str]| {
        let error = read(MQTT, &[five, change]).unwrap_err().to_string();
        assert!(says.iter().all(|part| error.contains(part)), "{change}: {error}");
    };
    refused("publishers.0.properties.priority=1", &["properties.priority", "content-type"]);
    refused("publishers.0.properties.expiration=1500ms", &["properties.expiration", "whole"]);
    refused("publishers.0.properties.headers.a=1", &["properties.headers.a", "a text"]);
}

#[test]
fn keys_of_mqtt_are_for_mqtt_only() {
    let error = read(SMALL, &["publishers.0.qos=1"]).unwrap_err().to_string();
    assert!(error.contains("publishers.0.qos"), "{error}");
    let error = read(SMALL, &["consumers.0.topics=[\"a\"]"]).unwrap_err().to_string();
    assert!(error.contains("consumers.0.topics"), "{error}");
}
