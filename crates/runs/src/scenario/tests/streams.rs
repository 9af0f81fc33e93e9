//! Groups of the stream protocol.

use super::*;

const STREAMS: &str = r#"
    name = "s"
    run.duration = "1s"
    queues = [{ name = "s-{}", to = 3, type = "stream" }, { name = "q" }]
    publishers = [{ queue = "s-{}", protocol = "stream", count = 4 }]
    consumers = [{ queue = "s-{}", protocol = "stream", offset = "first", rate = 5 }]
"#;

#[test]
fn a_resolved_group_reads_back_the_same() {
    let scenario = read(STREAMS, &[]).unwrap();
    assert_eq!(parse(&scenario.to_toml(), "resolved", &[]).unwrap(), scenario);
    let (publishers, consumers) = (&scenario.publishers[0], &scenario.consumers[0]);
    assert_eq!((publishers.confirm_window, publishers.persistent), (Some(NO_WINDOW), None));
    assert_eq!((consumers.credit, consumers.prefetch), (Some(10), None));
    let BrokerSpec::Throwaway(broker) = &scenario.broker.spec else { panic!("it is new") };
    assert_eq!(broker.plugins, ["rabbitmq_stream"]);
    let given =
        read(STREAMS, &["broker.plugins=[\"rabbitmq_stream\", \"rabbitmq_mqtt\"]"]).unwrap();
    let BrokerSpec::Throwaway(broker) = &given.broker.spec else { panic!("it is new") };
    assert_eq!(broker.plugins.len(), 2);
}

#[test]
fn what_the_protocol_lacks_is_refused() {
    let refused = |change: &str, says: &[&str]| {
        let error = read(STREAMS, &[change]).unwrap_err().to_string();
        assert!(says.iter().all(|part| error.contains(part)), "{change}: {error}");
    };
    refused("publishers.0.channels=2", &["publishers.0.channels", "no channels"]);
    refused("publishers.0.count=600", &["publishers.0.connections", "at least 3 connections"]);
    refused("publishers.0.count=2", &["publishers.0.member-queues", "count = 3"]);
    refused("publishers.0.member-queues=all", &["publishers.0.member-queues"]);
    read(STREAMS, &["publishers.0.count=2", "publishers.0.member-queues=one"]).unwrap();
    refused("publishers.0.queue=q", &["publishers.0.protocol", "`q` is no stream"]);
    refused("publishers.0.mandatory=true", &["publishers.0.mandatory"]);
    refused("publishers.0.properties.priority=1", &["publishers.0.properties"]);
    refused("publishers.0.compression=gzip", &["publishers.0.compression"]);
    refused("consumers.0.queue=q", &["consumers.0."]);
    refused("queues.0.to=300", &["publishers.0.member-queues"]);
    refused("consumers.0.auto-ack=true", &["consumers.0.auto-ack"]);
    refused("consumers.0.arguments.x-priority=1", &["consumers.0.arguments"]);
    refused("consumers.0.protocol=amqp-0-9-1", &["needs `prefetch`"]);
}

#[test]
fn a_super_stream_becomes_its_parts() {
    let text = "name = \"s\"\nrun.duration = \"1s\"\nqueues = [{ name = \"orders\", type = \"stream\", partitions = 3 }]\n\
                [[publishers]]\nprotocol = \"stream\"\nexchange = \"orders\"\nrouting-key = \"k\"\n\
                [[consumers]]\nprotocol = \"stream\"\nqueue = \"orders\"\n";
    let scenario = read(text, &[]).unwrap();
    let partitions = ["orders-0", "orders-1", "orders-2"].map(str::to_owned).to_vec();
    assert_eq!(scenario.partitions("orders"), Some(partitions.clone()));
    assert_eq!(scenario.queue_names(&scenario.consumers[0].queue), partitions);
    let [exchange] = &scenario.exchanges[..] else { panic!("one exchange") };
    assert_eq!(exchange.arguments["x-super-stream"], FieldValue::Bool(true));
    let binding = &scenario.queues[0].bindings[0];
    let tables = scenario.queues[0].arguments_of_each(&binding.arguments).unwrap();
    let orders = tables.iter().map(|table| &table["x-stream-partition-order"]);
    assert!(orders.eq(&[0, 1, 2].map(FieldValue::Integer)), "{tables:?}");
    let refused = |change: &str, part: &str| {
        let message = read(text, &[change]).unwrap_err().to_string();
        assert!(message.contains(part), "{change}: {message}");
    };
    refused("queues.0.partitions=0", "queues.0.partitions");
    refused("queues.0.partitions=300", "1 to 255");
    refused("queues.0.to=4", "queues.0.to");
    refused("publishers.0.exchange=amq.topic", "no super stream");
    read(text, &["publishers.0.reference=true"]).unwrap();
    read(text, &["publishers.0.sub-entry-size=5"]).unwrap();
    refused("publishers.0.count=100", "publishers.0.connections");
}

#[test]
fn single_active_consumers_have_a_name_and_all_streams() {
    let named = ["consumers.0.consumer-name=app", "consumers.0.count=3"];
    let single = ["consumers.0.single-active-consumer=true"];
    let both = [&named[..], &single].concat();
    let scenario = read(STREAMS, &both).unwrap();
    assert_eq!(parse(&scenario.to_toml(), "resolved", &[]).unwrap(), scenario);
    let consumers = &scenario.consumers[0];
    assert_eq!(consumers.member_queues, MemberQueues::All);
    assert_eq!((consumers.store_every, &consumers.super_stream), (Some(10_000), &None));
    let refused = |changes: &[&str], says: &[&str]| {
        let error = read(STREAMS, changes).unwrap_err().to_string();
        assert!(says.iter().all(|part| error.contains(part)), "{changes:?}: {error}");
    };
    refused(&single, &["consumers.0.single-active-consumer", "`consumer-name`"]);
    refused(&["consumers.0.store-every=5"], &["consumers.0.store-every", "`consumer-name`"]);
    refused(&["consumers.0.consumer-name="], &["consumers.0.consumer-name", "empty"]);
    refused(&["consumers.0.super-stream=s"], &["consumers.0.super-stream"]);
    let none = [&both[..], &["consumers.0.store-every=0"]].concat();
    refused(&none, &["consumers.0.store-every"]);
    let others = read(SMALL, &["consumers.0.single-active-consumer=true"]).unwrap_err();
    assert!(others.to_string().contains("x-single-active-consumer"), "{others}");
    let super_stream = "name = \"s\"\nrun.duration = \"1s\"\n\
                        queues = [{ name = \"orders\", type = \"stream\", partitions = 3 }]\n\
                        [[consumers]]\nprotocol = \"stream\"\nqueue = \"orders\"\ncount = 2\n\
                        consumer-name = \"app\"\nsingle-active-consumer = true\n";
    let scenario = read(super_stream, &[]).unwrap();
    assert_eq!(scenario.consumers[0].super_stream.as_deref(), Some("orders"));
    assert_eq!(parse(&scenario.to_toml(), "resolved", &[]).unwrap(), scenario);
}

#[test]
fn filters_are_of_streams() {
    let filtered = [
        "publishers.0.filter-values=[\"a\", \"b\"]",
        "consumers.0.filter-values=[\"a\"]",
        "consumers.0.match-unfiltered=true",
    ];
    let scenario = read(STREAMS, &filtered).unwrap();
    assert_eq!(parse(&scenario.to_toml(), "resolved", &[]).unwrap(), scenario);
    let consumers = &scenario.consumers[0];
    assert_eq!((consumers.wanted_values(), consumers.wants_unfiltered()), (vec!["a"], true));
    let refused = |text: &str, changes: &[&str], says: &[&str]| {
        let error = read(text, changes).unwrap_err().to_string();
        assert!(says.iter().all(|part| error.contains(part)), "{changes:?}: {error}");
    };
    refused(STREAMS, &["consumers.0.filter-values=[]"], &["consumers.0.filter-values", "no value"]);
    let empty = ["publishers.0.filter-values=[\"\"]"];
    refused(STREAMS, &empty, &["publishers.0.filter-values", "1 to 200"]);
    let packed = [filtered[0], "publishers.0.sub-entry-size=5"];
    refused(STREAMS, &packed, &["publishers.0.filter-values", "entry"]);
    refused(STREAMS, &[filtered[2]], &["consumers.0.match-unfiltered", "`filter-values`"]);
    let twice = [filtered[1], "consumers.0.arguments.x-stream-filter=b"];
    refused(STREAMS, &twice, &["consumers.0.filter-values", "twice"]);
    let mixed = [filtered[0], filtered[1], "run.verify=true"];
    refused(STREAMS, &mixed, &["run.verify", "filter of `consumers-0`"]);
    read(STREAMS, &["publishers.0.filter-values=[\"b\"]", filtered[1], mixed[2]]).unwrap();
    refused(SMALL, &[filtered[0]], &["publishers.0.filter-values", "protocol"]);
    refused(SMALL, &[filtered[1]], &["consumers.0.filter-values", "only streams"]);
}

#[test]
fn subscriptions_have_numbers() {
    let many = ["queues.0.to=300", "publishers.0.member-queues=one"];
    let error = read(STREAMS, &many).unwrap_err().to_string();
    assert!(error.contains("consumers.0.connections") && error.contains("300"), "{error}");
    let spread = ["consumers.0.count=2", "consumers.0.connections=2"];
    read(STREAMS, &[&many[..], &spread].concat()).unwrap();
}

#[test]
fn references_and_credit_are_for_streams_only() {
    let error = read(SMALL, &["publishers.0.reference=true"]).unwrap_err().to_string();
    assert!(error.contains("publishers.0.reference"), "{error}");
    let error = read(SMALL, &["consumers.0.credit=3"]).unwrap_err().to_string();
    assert!(error.contains("consumers.0.credit") && error.contains("`prefetch`"), "{error}");
}
