//! Valid and refused exchanges, sets of queues, contents, and settings of consumers.

use super::*;

/// Returns `SMALL` with overrides.
fn small(overrides: &[&str]) -> Scenario {
    read(SMALL, overrides).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn sets_of_queues_have_names() {
    fn check(overrides: &[&str], expected: &[&str]) {
        let overrides: Vec<_> = overrides.iter().map(|text| format!("queues.0.{text}")).collect();
        let group = ["publishers.0.queue", "consumers.0.queue"].map(|key| {
            let name = overrides[0].split_once('=').unwrap().1;
            format!("{key}={name}")
        });
        let all: Vec<_> = overrides.iter().chain(&group).map(String::as_str).collect();
        let scenario = small(&all);
        assert_eq!(scenario.queue_names(scenario.publishers[0].routing_key()), expected);
    }
    check(&["name=q-{}", "to=3"], &["q-1", "q-2", "q-3"]);
    check(&["name=q-{:03}", "from=9", "to=10"], &["q-009", "q-010"]);
    check(&["name=set", "names=[\"a\", \"b\"]"], &["a", "b"]);
    refused(&["queues.0.name=q-{}"], &["queues.0.to", "is missing"]);
    refused(&["queues.0.to=4"], &["queues.0.to", "`q-{}`"]);
    refused(&["queues.0.name=q-{}", "queues.0.from=4", "queues.0.to=3"], &["queues.0.to"]);
    refused(&["queues.0.names=[]"], &["queues.0.names", "no name"]);
    refused(&["queues.1.name=s", "queues.1.names=[\"q\"]"], &["queues.1.name", "`q`", "twice"]);
    refused(&["queues.0.names-file=none"], &["queues.0.names-file", "none", "cannot"]);
}

#[test]
fn one_queue_of_a_set_may_be_named() {
    let set = SMALL.replace("name = \"q\"", "name = \"q-{}\"\nto = 9");
    let to_one = set.replace("queue = \"q\"", "queue = \"q-7\"");
    let scenario = read(&to_one, &[]).unwrap();
    assert_eq!(scenario.queue_names("q-7"), ["q-7"]);
    let message = read(&to_one, &["consumers.0.queue=q-10"]).unwrap_err().to_string();
    assert!(message.contains("no queue `q-10`"), "{message}");
}

#[test]
fn names_come_from_a_file() {
    let text = SMALL.replace("name = \"q\"", "name = \"q\"\nnames-file = \"n.txt\"");
    let mut read = |path: &str| {
        assert_eq!(path, "n.txt");
        Ok("a\n\n  b \n".to_owned())
    };
    let scenario = parse_with_files(&text, "f.toml", &[], &mut read).unwrap();
    assert_eq!(scenario.queues[0].queue_names(), ["a", "b"]);
    let again = parse(&scenario.to_toml(), "resolved", &[]).unwrap();
    assert_eq!(again, scenario, "the names are part of the resolved form");
}

#[test]
fn binding_keys_follow_the_names() {
    let bound = [
        "queues.0.name=q-{}",
        "queues.0.to=2",
        "publishers.0.queue=q-{}",
        "consumers.0.queue=q-{}",
        "queues.0.bindings=[{ exchange = \"amq.direct\", routing-key = \"k.{:02}\" }]",
    ];
    let queue = &small(&bound).queues[0];
    assert_eq!(queue.binding_keys(&queue.bindings[0]), ["k.01", "k.02"]);
}

#[test]
fn exchanges_are_declared_and_checked() {
    let to_exchange =
        SMALL.replace("[[publishers]]\nqueue = \"q\"", "[[publishers]]\nexchange = \"e\"");
    let with =
        |overrides: &[&str]| read(&to_exchange, overrides).map_err(|error| error.to_string());
    let kind =
        |kind: &str| with(&["exchanges=[{ name = \"e\" }]", &format!("exchanges.0.type={kind}")]);
    for good in ["direct", "fanout", "topic", "headers", "x-consistent-hash"] {
        assert_eq!(kind(good).unwrap().exchanges[0].kind, good);
    }
    assert!(kind("fanuot").unwrap_err().contains("did you mean `fanout`?"));
    assert!(with(&[]).unwrap_err().contains("declare it with `[[exchanges]]`"));
    let internal = ["exchanges=[{ name = \"e\", internal = true }]"];
    assert!(with(&internal).unwrap_err().contains("internal"));
    let own = ["exchanges=[{ name = \"e\", bindings = [{ exchange = \"e\" }] }]"];
    assert!(with(&own).unwrap_err().contains("circle"));
}

#[test]
fn lists_grow_by_overrides() {
    let scenario = small(&["publishers.1.queue=q", "publishers.1.rate=7"]);
    assert_eq!(scenario.publishers[1].schedule().rate, Some(7.0));
    refused(&["publishers.2.queue=q"], &["there are 1 of these"]);
}

#[test]
fn contents_and_their_contradictions() {
    let json = small(&["publishers.0.body=json"]);
    assert_eq!(json.publishers[0].body(), Body::Json { documents: 100, fields: None });
    let steps = "publishers.0.sizes=[{ size = \"1KiB\", for = \"2s\" }]";
    assert_eq!(small(&[steps]).publishers[0].size_bytes(), 1024);
    refused(&[steps, "publishers.0.size=1B"], &["publishers.0.sizes", "leave one"]);
    refused(&["publishers.0.sizes=[{ size = \"1KiB\" }]"], &["publishers.0.sizes.0.for"]);
    refused(&["publishers.0.body-files=[\"a\"]", steps], &["publishers.0.sizes", "body-files"]);
    let shares =
        "publishers.0.size-shares=[{ size = \"2KiB\", share = 2 }, { size = \"1B\", share = 1 }]";
    assert_eq!(small(&[shares]).publishers[0].body_sizes().collect::<Vec<_>>(), [2048, 1]);
    for other in [steps, "publishers.0.size=1B"] {
        refused(&[shares, other], &["publishers.0.size-shares", "leave"]);
    }
    for share in ["0", "-1", "inf", "nan"] {
        let shares = format!("publishers.0.size-shares=[{{ size = \"1B\", share = {share} }}]");
        refused(&[&shares], &["publishers.0.size-shares", "above 0"]);
    }
    refused(&["publishers.0.size-shares=[]"], &["size-shares", "from 1 to"]);
    refused(&[shares, "publishers.0.items-per-message=2"], &["size-shares", "items"]);
    refused(&["publishers.0.body-files=[\"a\"]", shares], &["size-shares", "body-files"]);
    refused(&["publishers.0.body-files=[\"a\"]", "publishers.0.body=json"], &["publishers.0.body"]);
    let mix = "publishers.0.property-shares=[{ share = 3 }, { share = 1, properties = { priority = 9 } }]";
    let group =
        small(&[mix, "publishers.0.properties.priority=1", "publishers.0.properties.app-id=a"]);
    let all = group.publishers[0].all_properties();
    let priorities: Vec<_> = all.iter().map(|(share, one)| (*share, one.priority)).collect();
    assert_eq!(priorities, [(3.0, Some(1)), (1.0, Some(9))]);
    assert!(all.iter().all(|(_, one)| one.app_id.as_deref() == Some("a")));
    refused(&[mix, "publishers.0.items-per-message=2"], &["property-shares", "items-per-message"]);
    refused(&[mix, "publishers.0.size=40MiB"], &["property-shares", "80 MiB", "64 MiB"]);
    refused(&[mix, "publishers.0.protocol=amqp-1.0"], &["property-shares", "AMQP 0-9-1"]);
    let wrong = "publishers.0.property-shares=[{ share = 1, properties = { delivery-mode = 3 } }]";
    refused(
        &[wrong],
        &["publishers.0.property-shares.0.properties.delivery-mode", "1 (transient)"],
    );
    refused(&["publishers.0.json-bodies=3"], &["json-bodies", "needs"]);
    refused(
        &["publishers.0.properties.prioritty=3"],
        &["properties.prioritty", "did you mean `priority`?"],
    );
    refused(&["publishers.0.properties.priority=300"], &["properties.priority"]);
    refused(&["publishers.0.properties.expiration=1us"], &["expiration", "milliseconds"]);
    refused(&["publishers.0.routing-keys=[\"a\"]"], &["either `queue`"]);
}

#[test]
fn what_is_packed_says_how() {
    let zstd = ["publishers.0.body=json", "publishers.0.compression=zstd"];
    let packing =
        small(&[&zstd[..], &["publishers.0.items-per-message=5"]].concat()).publishers[0].packing();
    let compression = Compression { algorithm: Algorithm::Zstd, level: 3 };
    assert_eq!(packing, Packing { items: 5, compression: Some(compression) });
    assert!(
        small(&["publishers.0.items-per-message=5", "publishers.0.size=1B"]).publishers[0]
            .is_stamped()
    );
    refused(&[zstd[1]], &["publishers.0.compression", "zeros"]);
    refused(&[zstd[0], "publishers.0.compression=snappy"], &["publishers.0.compression", "lz4"]);
    refused(&["publishers.0.compression-level=3"], &["compression-level", "needs"]);
    let level = [&zstd[..], &["publishers.0.compression-level=23"]].concat();
    refused(&level, &["compression-level", "1 to 22"]);
    let twice = [&zstd[..], &["publishers.0.properties.content-encoding=br"]].concat();
    refused(&twice, &["publishers.0.compression", "content-encoding"]);
    refused(&["publishers.0.items-per-message=0"], &["items-per-message", "1 to 100000"]);
    refused(
        &["publishers.0.items-per-message=1000", "publishers.0.size=1MiB"],
        &["items-per-message", "512 MiB"],
    );
    assert!(!small(&["consumers.0.unpack=false"]).consumers[0].unpack);
}

#[test]
fn confirms_and_transactions_exclude_each_other() {
    let tx = "publishers.0.tx-size=10";
    assert_eq!(small(&[tx]).publishers[0].tx_size, Some(10));
    refused(&[tx, "publishers.0.confirm-window=5"], &["publishers.0.tx-size", "confirm-window"]);
    refused(&[tx, "publishers.0.count=2", "publishers.0.channels=1"], &["whole channel"]);
    refused(&[tx, "queues.0.type=stream"], &["streams do not support transactions"]);
    refused(&["publishers.0.tx-size=0"], &["1 to 1000000"]);
    refused(&["publishers.0.confirm-timeout=3s"], &["nothing is confirmed"]);
    refused(&["publishers.0.on-confirm-timeout=fail"], &["needs `confirm-timeout`"]);
    let fail = [tx, "publishers.0.confirm-timeout=3s", "publishers.0.on-confirm-timeout=fail"];
    let timeout = ConfirmTimeout { after: Duration::from_secs(3), ends_run: true };
    assert_eq!(small(&fail).publishers[0].confirm_timeout(), Some(timeout));
    assert_eq!(small(&["publishers.0.interval=4s"]).publishers[0].schedule().rate, Some(0.25));
    refused(&["publishers.0.interval=4s", "publishers.0.rate=1"], &["opposite of `rate`"]);
}

#[test]
fn shares_of_refusals() {
    refused(&["consumers.0.nack-share=0.5"], &["nack-share", "needs `nack = true`"]);
    for share in ["0", "1", "nan"] {
        let share = format!("consumers.0.nack-share={share}");
        refused(&["consumers.0.nack=true", &share], &["nack-share", "above 0"]);
    }
    let share = ["consumers.0.nack=true", "consumers.0.nack-share=0.5"];
    assert_eq!(small(&share).consumers[0].nack_share, Some(0.5));
    refused(&[share[0], share[1], "consumers.0.multi-ack-every=2"], &["nack-share", "frame"]);
    let back = "consumers.0.requeue-share=0.25";
    refused(&[back], &["requeue-share", "needs `nack = true`"]);
    assert_eq!(small(&[share[0], share[1], back]).consumers[0].requeue_share, Some(0.25));
    refused(&[share[0], back, "consumers.0.requeue=false"], &["requeue-share", "`requeue` out"]);
}

#[test]
fn what_consumers_cannot_combine() {
    let polls = SMALL.replace("prefetch = 10", "polling = true");
    assert_eq!(read(&polls, &[]).unwrap().consumers[0].polled_every(), Some(Duration::ZERO));
    refused(&["consumers.0.polling=true"], &["consumers.0.prefetch", "requests each one"]);
    refused(&["consumers.0.poll-interval=1s"], &["needs `polling = true`"]);
    let stream = read(&polls, &["queues.0.type=stream"]).unwrap_err().to_string();
    assert!(stream.contains("basic.get"), "{stream}");
    refused(&["consumers.0.requeue=true"], &["set `nack = true`"]);
    let times = "consumers.0.processing-time-shares=[{ time = \"1ms\", share = 1 }]";
    assert!(small(&[times]).consumers[0].is_processing());
    refused(&[times, "consumers.0.processing-time=1ms"], &["processing-time-shares", "leave"]);
    refused(&["consumers.0.processing-time-shares=[]"], &["processing-time-shares", "from 1 to"]);
    let prefill = "queues.0.prefill=50";
    let queue = small(&[prefill, "queues.0.prefill-size=2KiB"]).queues.remove(0);
    assert_eq!((queue.prefill, queue.prefill_size), (50, Some(2_048)));
    assert_eq!(small(&[prefill]).queues[0].prefill_size, Some(1_000));
    refused(&["queues.0.prefill-size=2KiB"], &["prefill-size", "needs `prefill`"]);
    refused(&[prefill, "queues.0.keep=true"], &["prefill", "leave `keep` out"]);
    refused(&[prefill, "queues.0.type=stream"], &["prefill", "classic and quorum"]);
    refused(&[prefill, "broker.uri=amqp://h"], &["queues.0.prefill", "throwaway"]);
    refused(&[prefill, "run.verify=true"], &["run.verify", "`prefill`"]);
    refused(&["queues.0.prefill=1000001"], &["prefill", "at most"]);
    let (concurrency, time) = ("consumers.0.concurrency=4", "consumers.0.processing-time=1ms");
    assert_eq!(small(&[concurrency, time]).consumers[0].concurrency, 4);
    refused(&[concurrency], &["concurrency", "needs `processing-time`"]);
    refused(
        &[concurrency, time, "consumers.0.multi-ack-every=2"],
        &["concurrency", "each message"],
    );
    refused(&[concurrency, time, "run.verify=true"], &["run.verify", "`concurrency`"]);
    refused(&["consumers.0.concurrency=0"], &["concurrency", "from 1 to 1000"]);
    let auto = SMALL.replace("prefetch = 10", "auto-ack = true");
    for (key, part) in
        [("nack=true", "acknowledged"), ("rate=5", "regardless"), ("tx-size=5", "tx")]
    {
        let error = read(&auto, &[&format!("consumers.0.{key}")]).unwrap_err().to_string();
        assert!(error.contains(part), "{key}: {error}");
    }
    let unlimited = SMALL.replace("prefetch = 10", "rate = 5");
    assert!(read(&unlimited, &[]).unwrap_err().to_string().contains("needs `prefetch`"));
    refused(&["consumers.0.tx-size=11"], &["tx-size", "`prefetch` stops"]);
    refused(&["consumers.0.multi-ack-every=4", "consumers.0.tx-size=9"], &["12 messages"]);
    refused(
        &["consumers.0.channel-prefetch=5", "consumers.0.multi-ack-every=6"],
        &["multi-ack-every", "`channel-prefetch`"],
    );
    refused(&["queues.0.type=quorum", "consumers.0.channel-prefetch=5"], &["only classic"]);
    refused(&["consumers.0.exclusive=true", "consumers.0.count=2"], &["alone"]);
    let priority = &small(&["consumers.0.priority=7"]).consumers[0].arguments;
    assert_eq!(priority.get("x-priority"), Some(&FieldValue::Integer(7)));
}

#[test]
fn offsets_of_streams() {
    fn offset(value: &str) -> Option<FieldValue> {
        let key = format!("consumers.0.offset={value}");
        let set = ["queues.0.type=\"stream\"", "consumers.0.prefetch=10", &key];
        small(&set).consumers[0].arguments.get("x-stream-offset").cloned()
    }
    assert_eq!(offset("\"first\""), Some(FieldValue::Text("first".to_owned())));
    assert_eq!(offset("\"90m\""), Some(FieldValue::Text("90m".to_owned())));
    assert_eq!(offset("17"), Some(FieldValue::Integer(17)));
    assert!(matches!(offset("2026-01-01T12:00:00Z"), Some(FieldValue::Time(_))));
    let stream = ["queues.0.type=\"stream\"", "consumers.0.prefetch=10"];
    for wrong in ["\"soon\"", "\"1w\"", "-1", "true"] {
        let key = format!("consumers.0.offset={wrong}");
        refused(&[stream[0], stream[1], &key], &["consumers.0.offset", "`first`"]);
    }
    refused(&["consumers.0.offset=\"first\""], &["only streams have offsets"]);
}

#[test]
fn shares_of_keys() {
    let shares = |keys: &str, count| {
        let keys = format!("publishers.0.{keys}");
        let listed = "publishers.0.routing-keys=[\"a\", \"b\", \"c\", \"d\"]";
        let exchange = read(
            &SMALL.replace(
                "[[publishers]]\nqueue = \"q\"",
                "[[publishers]]\nexchange = \"amq.topic\"",
            ),
            &[listed, &keys],
        );
        exchange.unwrap().publishers[0].shares_of_keys(count)
    };
    assert_eq!(shares("key-shares=[5, 2]", 4), Some(vec![5.0, 2.0, 2.0, 2.0]));
    assert_eq!(shares("key-exponent=1", 4), Some(vec![1.0, 0.5, 1.0 / 3.0, 0.25]));
    refused(&["publishers.0.key-exponent=1"], &["key-exponent", "several"]);
    refused(&["publishers.0.key-exponent=-1"], &["key-exponent", "from 0 to 10"]);
    refused(&["publishers.0.key-shares=[1, 0]"], &["key-shares", "above 0"]);
    let set = [
        "queues.0.name=q-{}",
        "queues.0.to=3",
        "publishers.0.queue=q-{}",
        "consumers.0.queue=q-{}",
    ];
    let with = |more: &[&str]| read(SMALL, &[&set[..], more].concat());
    assert!(with(&["publishers.0.key-shares=[3, 2, 1]"]).is_ok());
    let error = with(&["publishers.0.key-shares=[4, 3, 2, 1]"]).unwrap_err().to_string();
    assert!(error.contains("4 shares for 3"), "{error}");
    let several = ["publishers.0.key-shares=[3]", "publishers.0.count=2"];
    let error = with(&several).unwrap_err().to_string();
    assert!(error.contains("member-queues"), "{error}");
    assert!(with(&[several[0], several[1], "publishers.0.member-queues=all"]).is_ok());
}

#[test]
fn forwarded_messages_need_a_target_and_a_limit() {
    let more = |key: &str, value: &str| format!("consumers.0.{key}={value}");
    let queue = "queues.1.name=next";
    let limit = &more("prefetch", "5");
    let forward = &more("forward", "{ queue = \"next\", share = 0.5 }");
    let group = small(&[queue, limit, forward]);
    assert_eq!(group.consumers[0].forward.as_ref().unwrap().share, Some(0.5));
    refused(&[queue, "!consumers.0.prefetch", forward], &["consumers.0.forward", "prefetch"]);
    refused(&[queue, limit, forward, &more("nack", "true")], &["forward", "nack-share"]);
    refused(&[queue, limit, forward, "run.verify=true"], &["run.verify", "forward"]);
    for (wrong, expected) in [
        ("{}", "give either `queue`"),
        ("{ queue = \"next\", exchange = \"amq.topic\" }", "give either `queue`"),
        ("{ queue = \"next\", routing-key = \"k\" }", "routing-key"),
        ("{ queue = \"next\", share = 1 }", "forward.share"),
        ("{ queue = \"next\", share = 0 }", "forward.share"),
        ("{ exchange = \"\" }", "forward.exchange"),
        ("{ queue = \"next\", size = \"60MiB\" }", "may need 300 MiB"),
        ("{ exchange = \"amq.topic\", routing-key = \"k.{}\" }", "forward.routing-key"),
    ] {
        refused(&[queue, limit, &more("forward", wrong)], &[expected]);
    }
    let same = format!("{{ queue = \"{}\" }}", small(&[]).consumers[0].queue);
    refused(&[limit, &more("forward", &same)], &["consumers.0.forward.queue", "come back"]);
}
