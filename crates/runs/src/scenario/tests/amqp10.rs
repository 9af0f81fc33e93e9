//! Groups of AMQP 1.0.

use super::*;

const GROUPS: &str = r#"
    name = "s"
    run.duration = "1s"
    queues = [{ name = "q-{}", to = 3 }, { name = "own", exclusive = true }]
    publishers = [{ queue = "q-{}", protocol = "amqp-1.0", count = 4, persistent = true, properties.priority = 3 }]
    consumers = [{ queue = "q-{}", protocol = "amqp-1.0", count = 3, prefetch = 10, priority = 5 }]
"#;

#[test]
fn a_resolved_group_reads_back_the_same() {
    let scenario = read(GROUPS, &[]).unwrap();
    assert_eq!(parse(&scenario.to_toml(), "resolved", &[]).unwrap(), scenario);
    assert!(scenario.uses(Protocol::Amqp10) && !scenario.uses(Protocol::Stream));
    let BrokerSpec::Throwaway(broker) = &scenario.broker.spec else { panic!("it is new") };
    assert_eq!(broker.plugins, ["rabbitmq_amqp1_0"]);
}

#[test]
fn what_the_protocol_lacks_is_refused() {
    let refused = |change: &str, says: &[&str]| {
        let error = read(GROUPS, &[change]).unwrap_err().to_string();
        assert!(says.iter().all(|part| error.contains(part)), "{change}: {error}");
    };
    refused("publishers.0.channels=2", &["publishers.0.channels", "session of its own"]);
    refused("publishers.0.count=200", &["publishers.0.connections", "at least 4 connections"]);
    refused("publishers.0.count=2", &["publishers.0.member-queues", "count = 3"]);
    refused("publishers.0.member-queues=all", &["publishers.0.member-queues"]);
    refused("publishers.0.tx-size=5", &["publishers.0.tx-size", "confirm-window"]);
    refused("publishers.0.mandatory=true", &["publishers.0.mandatory"]);
    refused("publishers.0.confirms=false", &["publishers.0.confirms", "never tells"]);
    refused("publishers.0.compression=gzip", &["publishers.0.compression"]);
    refused("publishers.0.properties.app-id=a", &["publishers.0.properties.app-id", "group-id"]);
    let list = "publishers.0.properties.headers.a";
    refused(&format!("{list}=[1]"), &[list, "must be a text"]);
    refused("publishers.0.properties.delivery-mode=3", &["publishers.0.properties.delivery-mode"]);
    let other = "publishers.0.protocol=amqp-0-9-1";
    let error = read(GROUPS, &[other, "publishers.0.properties.subject=a"]).unwrap_err();
    assert!(error.to_string().contains("publishers.0.properties.subject"), "{error}");
    refused("publishers.0.properties.expiration=60d", &["publishers.0.properties.expiration"]);
    refused("publishers.0.reference=true", &["publishers.0.reference"]);
    refused("consumers.0.polling=true", &["consumers.0.polling"]);
    refused("consumers.0.exclusive=true", &["consumers.0.exclusive"]);
    refused("consumers.0.tx-size=5", &["consumers.0.tx-size"]);
    refused("consumers.0.channel-prefetch=5", &["consumers.0.channel-prefetch", "`prefetch`"]);
    refused("consumers.0.count=2", &["consumers.0.member-queues", "count = 3"]);
    refused("consumers.0.arguments.x-cancel-on-ha-failover=true", &["consumers.0.arguments"]);
    let filter = "consumers.0.arguments.x-stream-filter";
    refused(&format!("{filter}=a"), &[filter, "only streams"]);
    refused("consumers.0.queue=own", &["consumers.0.protocol", "`own` belongs to a connection"]);
    refused("consumers.0.multi-ack-every=11", &["consumers.0.multi-ack-every"]);
}

#[test]
fn a_publisher_to_an_exchange_has_any_keys() {
    for keys in
        ["routing-key = \"a.{}\", to = 9", "routing-keys = [\"a\", \"b\"]", "queue = \"q-{}\""]
    {
        let text =
            GROUPS.replacen("queue = \"q-{}\"", &format!("exchange = \"amq.topic\", {keys}"), 1);
        read(&text, &["publishers.0.count=1"]).unwrap();
    }
}

#[test]
fn contents_are_those_of_amqp_0_9_1() {
    let given = [
        "publishers.0.body=json",
        "publishers.0.properties.headers={ a = 1, b = \"c\", x-stream-filter-value = \"v\" }",
        "publishers.0.properties.subject=s",
        "publishers.0.properties.group-id=g",
        "publishers.0.properties.message-id=m",
        "publishers.0.properties.expiration=5s",
    ];
    let scenario = read(GROUPS, &given).unwrap();
    assert_eq!(parse(&scenario.to_toml(), "resolved", &[]).unwrap(), scenario);
    assert!(scenario.publishers[0].has_stamp_headers());
}

#[test]
fn a_filter_has_conditions_of_the_right_types() {
    let of_streams = ["queues.0.type=stream", "publishers.0.persistent=true"];
    let with = |filter: &str| {
        let filter = format!("consumers.0.filter={filter}");
        read(GROUPS, &[of_streams[0], of_streams[1], &filter])
    };
    for filter in [
        "{ sql = \"priority > 4\" }",
        "{ properties = { subject = \"&p:a\", group-sequence = 7, creation-time = 2026-01-01T00:00:00Z } }",
        "{ properties = { user-id = \"u\" }, headers = { a = 1, b = true } }",
    ] {
        let scenario = with(filter).unwrap();
        assert_eq!(parse(&scenario.to_toml(), "resolved", &[]).unwrap(), scenario);
        assert!(scenario.consumers[0].has_filter());
    }
    let refused = |filter: &str, says: &[&str]| {
        let error = with(filter).unwrap_err().to_string();
        assert!(says.iter().all(|part| error.contains(part)), "{filter}: {error}");
    };
    refused("{ sql = \" \" }", &["consumers.0.filter.sql", "empty"]);
    refused("{ sql = \"TRUE\", headers = { a = 1 } }", &["consumers.0.filter.sql"]);
    refused("{ headers = { a = [1] } }", &["consumers.0.filter.headers.a"]);
    refused("{ properties = { priority = 1 } }", &["filter.properties.priority", "subject"]);
    refused("{ properties = { subject = 1 } }", &["filter.properties.subject", "a text"]);
    refused("{ properties = { group-sequence = -1 } }", &["filter.properties.group-sequence"]);
    let filter = "consumers.0.filter={ sql = \"TRUE\" }";
    let error = read(GROUPS, &[filter]).unwrap_err().to_string();
    assert!(error.contains("consumers.0.filter") && error.contains("only streams"), "{error}");
    let error = read(GROUPS, &[of_streams[0], filter, "run.verify=true"]).unwrap_err().to_string();
    assert!(error.contains("run.verify") && error.contains("filter"), "{error}");
    let error = read(GROUPS, &[filter, "consumers.0.protocol=amqp-0-9-1"]).unwrap_err();
    assert!(error.to_string().contains("consumers.0.filter"), "{error}");
}
