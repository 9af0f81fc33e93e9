//! The meaning of scenarios, and the refusals of invalid ones.

mod amqp10;
mod contents;
mod declaring;
mod expectations;
mod faults;
mod groups;
mod machine_use;
mod mqtt;
mod polling;
mod random;
mod sharing;
mod streams;

use std::time::Duration;

use super::*;
use random::Random;

const SMALL: &str = r#"
name = "small"
[run]
duration = "10s"
[[queues]]
name = "q"
[[publishers]]
queue = "q"
[[consumers]]
queue = "q"
prefetch = 10
"#;

fn read(text: &str, overrides: &[&str]) -> Result<Scenario, ScenarioError> {
    let overrides: Vec<_> = overrides.iter().map(|text| (*text).to_owned()).collect();
    parse(text, "f.toml", &overrides)
}

/// Checks that `SMALL` with overrides is refused with a message that contains all of `expected`.
fn refused(overrides: &[&str], expected: &[&str]) {
    let message = read(SMALL, overrides).unwrap_err().to_string();
    for part in expected {
        assert!(message.contains(part), "{overrides:?}: `{part}` is not in: {message}");
    }
}

#[test]
fn defaults_are_filled_in() {
    let scenario = read(SMALL, &[]).unwrap();
    let publisher = &scenario.publishers[0];
    assert_eq!(scenario.broker.spec, BrokerSpec::Throwaway(ThrowawayBroker::default()));
    assert_eq!((publisher.exchange(), publisher.routing_key()), ("", "q"));
    assert_eq!((publisher.count, publisher.connections, publisher.channels), (1, 1, 1));
    assert_eq!((publisher.size_bytes(), publisher.confirm_window), (12, None));
    assert_eq!(scenario.queues[0].queue_type, QueueType::Classic);
    assert_eq!(scenario.consumers[0].multi_ack_every, 1);
    assert_eq!(scenario.run.duration, Some(Duration::from_secs(10)));
}

#[test]
fn overrides_replace_and_add() {
    let overrides =
        ["publishers.0.rate=5000", "run.duration=3s", "broker.plugins=[\"rabbitmq_stream\"]"];
    let scenario = read(SMALL, &overrides).unwrap();
    assert_eq!(scenario.publishers[0].schedule().rate, Some(5000.0));
    assert_eq!(scenario.run.duration, Some(Duration::from_secs(3)));
    let BrokerSpec::Throwaway(broker) = scenario.broker.spec else {
        panic!("not started for the run")
    };
    assert_eq!(broker.plugins, ["rabbitmq_stream"]);
    refused(&["publishers.7.rate=1"], &["--set", "publishers.7", "there are 1 of these"]);
    refused(&["rate"], &["--set", "write `key=value`"]);
    refused(&["name.x=1"], &["name.x", "plain value"]);
}

#[test]
fn overrides_remove() {
    let rate = |overrides: &[&str]| read(SMALL, overrides).unwrap().publishers[0].rate;
    assert_eq!(rate(&["publishers.0.rate=5", "!publishers.0.rate"]), None);
    assert_eq!(
        rate(&["publishers.0.rate=5", "!publishers.0.rate", "publishers.0.rate=7"]),
        Some(7.0)
    );
    let missing = "is not there to be removed";
    for key in
        ["publishers.0.rate", "publishers.1.rate", "publishers.x.rate", "x", "x.y", "name.x", ""]
    {
        refused(&[&format!("!{key}")], &["--set", missing]);
    }
    refused(&["!publishers.0"], &["publishers.0", "element of a list"]);
    refused(&["!name"], &["name"]);
}

#[test]
fn refusals_name_file_line_key_and_what_is_allowed() {
    fn check(line: &str, expected: &str) {
        let error = read(&SMALL.replace("prefetch = 10", line), &[]).unwrap_err();
        assert_eq!(error.to_string(), expected);
    }
    check(
        "prefetsch = 10",
        "f.toml:11: `consumers.0.prefetsch`: is an unknown key; allowed are `name`, `protocol`, \
         `mqtt-version`, `qos`, `topics`, `count`, `connections`, `connections-of`, `channels`, `queue`, `member-queues`, `credit`, `consumer-name`, `store-every`, `single-active-consumer`, `super-stream`, `filter-values`, \
         `match-unfiltered`, `prefetch`, `channel-prefetch`, `auto-ack`, \
         `multi-ack-every`, `nack`, `requeue`, `nack-share`, `requeue-share`, `tx-size`, `rate`, `processing-time`, \
         `processing-times`, `processing-time-shares`, `concurrency`, `forward`, `polling`, `poll-interval`, `priority`, `offset`, `exclusive`, `unpack`, `messages`, \
         `start-delay`, `slow-start`, `filter`, `arguments`; did you mean `prefetch`?",
    );
    check(
        "prefetch = \"ten\"",
        "f.toml:11: `consumers.0.prefetch`: is the text `ten`, but a whole number from 0 to \
         65535 is expected",
    );
    check(
        "prefetch = 10\nmulti-ack-every = 11",
        "f.toml:12: `consumers.0.multi-ack-every`: is 11, but the broker stops at 10 \
         unacknowledged messages (`prefetch`), so the consumer would wait for ever: at most 10 is \
         allowed",
    );
    check("prefetch = ", "f.toml:11: string values must be quoted, expected literal string");
}

#[test]
fn what_several_brokers_cannot_do_is_refused() {
    refused(&["broker.cluster=false"], &["broker.cluster", "give `nodes`"]);
    let two = "broker.nodes=2";
    refused(&[two, "broker.cluster=false", "broker.recovery=true"], &["`broker.recovery`"]);
    refused(&[two, "broker.cluster=false", "run.verify=true"], &["`run.verify`"]);
    let random = "broker.allocation=random";
    refused(&[two, "broker.cluster=false", random], &["`broker.allocation`"]);
    let parameter =
        |rest: &str| format!("broker.parameters=[{{ component = 'shovel', name = 's', {rest} }}]");
    refused(&[two, &parameter("value = '{'")], &["broker.parameters.0.value", "JSON"]);
    refused(&[two, &parameter("value = '\"$uri-3\"'")], &["broker.parameters.0.value", "1 to 2"]);
    refused(&[two, &parameter("value = '{}', node = 3")], &["broker.parameters.0.node"]);
}

#[test]
fn what_cannot_be_is_refused() {
    refused(&["consumers.0.auto-ack=true"], &["consumers.0.prefetch", "leave one of the two out"]);
    refused(&["consumers.0.auto-ack=true", "consumers.0.multi-ack-every=5"], &["auto-ack"]);
    refused(&["consumers.0.prefetch=0"], &["1 to 65535"]);
    let shared = ["consumers.0.count=2", "consumers.0.channels=1", "consumers.0.messages=5"];
    read(SMALL, &shared).unwrap();
    refused(
        &[shared[0], shared[1], shared[2], "consumers.0.multi-ack-every=2"],
        &["consumers.0.messages", "share a channel"],
    );
    refused(&["consumers.0.queue=p"], &["no queue `p`", "declared are `q`"]);
    refused(&["publishers.0.queue=p"], &["publishers.0.queue", "no queue `p`"]);
    refused(
        &["publishers.0.exchange=amq.direct", "publishers.0.routing-key=k"],
        &["either `queue`"],
    );
    refused(&["publishers.0.size=12"], &["publishers.0.size", "text in quotes"]);
    refused(&["publishers.0.size=12X"], &["publishers.0.size", "`12B`"]);
    refused(&["publishers.0.size=1GiB"], &["128MiB"]);
    refused(&["publishers.0.rate=-1"], &["publishers.0.rate", "0.001"]);
    refused(&["publishers.0.confirm-window=0"], &["at least 1"]);
    refused(&["publishers.0.connections=2"], &["from 1 to `count`"]);
    refused(&["publishers.0.channels=2"], &["publishers.0.channels"]);
    refused(&["run.duration=0s"], &["run.duration", "longer"]);
    refused(&["run.duration=fast"], &["run.duration", "`250ms`"]);
    refused(&["name=a/b"], &["`name`", "letters"]);
    refused(&["queues.0.name=amq.x"], &["queues.0.name"]);
    refused(&["queues.0.type=qourum"], &["queues.0.type", "did you mean `quorum`?"]);
    refused(&["queues.0.arguments.x-queue-type=stream"], &["set by `type`"]);
    refused(&["profile.duration=20s"], &["profile.duration", "exceed"]);
    refused(&["profile.duration=5s", "profile.event=gpu"], &["profile.event", "`off-cpu`"]);
    refused(&["packets.duration=20s"], &["packets.duration", "longer"]);
    refused(&["packets.duration=2s", "packets.bodies=true"], &["packets.bodies"]);
    refused(&["seed=1979-05-27"], &["seed", "date"]);
    refused(&["seed=often"], &["seed", "`random`"]);
    refused(&["seed=-1"], &["seed", "negative"]);
    refused(&["publishers.0.republish-unconfirmed=true"], &["needs `confirm-window`"]);
    refused(&["publishers.0.write=slowly"], &["publishers.0.write", "`per-message`"]);
    let stream = ["queues.0.type=stream", "publishers.0.protocol=stream"];
    let per_frame = ["publishers.0.write=per-frame"];
    refused(&[&stream[..], &per_frame].concat(), &["publishers.0.write", "AMQP 0-9-1"]);
    refused(&["broker.nodes=0"], &["broker.nodes", "from 1 to 7"]);
    refused(&["broker.nodes=3", "broker.uri=amqp://a"], &["broker.nodes", "uri"]);
    refused(&["broker.uris=[]"], &["broker.uris", "at least one"]);
    refused(&["broker.uris=[\"amqp://a\", \"http://b\"]"], &["broker.uris.1", "amqps://"]);
    refused(&["broker.auth=external"], &["broker.auth", "certificate"]);
    refused(&["broker.auth=token"], &["broker.token-file", "missing"]);
    refused(&["broker.token-file=t"], &["broker.token-file", "`auth = \"token\"`"]);
    refused(&["broker.tls.cert=c"], &["broker.tls.key", "missing"]);
    refused(&["broker.tls.ca=c", "broker.tls.verify=false"], &["broker.tls.ca", "verify"]);
    refused(&["broker.connect-parallel=0"], &["broker.connect-parallel", "1 to 256"]);
    refused(&["broker.recovery-delay=1s"], &["broker.recovery-delay", "recovery = true"]);
    refused(
        &["broker.recovery=true", "broker.recovery-delay=3s", "broker.recovery-max-delay=1s"],
        &["broker.recovery-max-delay", "at least"],
    );
    refused(&["broker.uri=http://x"], &["broker.uri", "amqp://"]);
    refused(&["broker.uri=amqp://x", "broker.config=y"], &["broker.config", "remove one"]);
}

#[test]
fn what_a_type_of_queue_cannot_do_is_refused() {
    for kind in ["stream", "quorum"] {
        let kind = format!("queues.0.type={kind}");
        refused(&[&kind, "queues.0.durable=false"], &["queues.0.durable", "always durable"]);
        refused(&[&kind, "queues.0.exclusive=true"], &["queues.0.exclusive"]);
        refused(&[&kind, "queues.0.auto-delete=true"], &["queues.0.auto-delete"]);
    }
    let stream = "queues.0.type=stream";
    let without = SMALL.replace("prefetch = 10", "");
    let message = read(&without, &[stream]).unwrap_err().to_string();
    assert!(message.contains("refuses to read a stream without it"), "{message}");
    let auto = read(&without, &[stream, "consumers.0.auto-ack=true"]).unwrap_err();
    assert!(auto.to_string().contains("automatic acknowledgement"), "{auto}");
    refused(&["consumers.0.arguments.x-stream-offset=first"], &["only streams have offsets"]);
    refused(
        &["queues.0.exclusive=true", "consumers.0.count=2", "consumers.0.connections=2"],
        &["consumers.0.queue", "exclusive"],
    );
}

#[test]
fn a_run_must_end() {
    let endless = SMALL.replace("duration = \"10s\"", "");
    assert!(read(&endless, &[]).unwrap_err().to_string().contains("never end"));
    read(&endless, &["publishers.0.messages=10"]).unwrap();
    read(&endless, &["consumers.0.messages=10"]).unwrap();
    let empty = read(&endless, &["run.until=empty"]).unwrap_err().to_string();
    assert!(empty.contains("publishers that stop"), "{empty}");
    let counted = ["run.until=empty", "run.empty-timeout=9s", "publishers.0.messages=10"];
    let run = read(&endless, &counted).unwrap().run;
    assert_eq!(run.until(), Some(Until::Empty(Duration::from_secs(9))));
    refused(&["run.empty-timeout=9s"], &["run.empty-timeout", "until = \"empty\""]);
    let stream = read(SMALL, &["run.until=empty", "queues.0.type=stream"]);
    assert!(stream.unwrap_err().to_string().contains("never empty"));
    let run = read(&endless, &["run.until=idle", "run.idle-time=3s"]).unwrap().run;
    assert_eq!(run.until(), Some(Until::Idle(Duration::from_secs(3))));
    let phases = "publishers.0.phases=[{ for = \"1s\", rate = 5 }]";
    assert!(read(&endless, &[phases]).unwrap_err().to_string().contains("never end"));
    read(&endless, &[phases, "publishers.0.after-phases=stop"]).unwrap();
    assert!(read("name = \"empty\"", &[]).unwrap_err().to_string().contains("nothing to run"));
}

#[test]
fn schedules_have_phases() {
    let phases = "publishers.0.phases=[{ for = \"10s\", rate = 0, to = 50 }, { for = \"1s\", burst = 9, \
                  every = \"100ms\" }]";
    let scenario =
        read(SMALL, &[phases, "publishers.0.arrival=poisson", "publishers.0.late=skip"]).unwrap();
    let group = &scenario.publishers[0];
    let ramp = Demand::Rate { from: 0.0, to: 50.0 };
    let bursts = Demand::Bursts { messages: 9, every: Duration::from_millis(100) };
    let Schedule { rate, arrival, phases, after_phases } = group.schedule();
    assert_eq!((phases[0].length, phases[0].demand()), (Duration::from_secs(10), ramp));
    assert_eq!((phases[1].length, phases[1].demand()), (Duration::from_secs(1), bursts));
    assert_eq!((rate, arrival), (None, Arrival::Poisson));
    assert_eq!((after_phases, group.late), (AfterPhases::Hold, Some(LatePolicy::Skip)));
}

#[test]
fn schedules_that_cannot_be_are_refused() {
    fn check(phase: &str, expected: &[&str]) {
        refused(&[&format!("publishers.0.phases=[{{ for = \"1s\", {phase} }}]")], expected);
    }
    check("rate = 1, burst = 2", &["publishers.0.phases.0.burst", "either `rate` or `burst`"]);
    check("to = 1", &["publishers.0.phases.0.rate", "is missing"]);
    check("burst = 1", &["publishers.0.phases.0.every", "is missing"]);
    check("burst = 0, every = \"1s\"", &["burst", "at least 1"]);
    check("burst = 1, every = \"1s\", to = 3", &["phases.0.to", "goes with `rate`"]);
    check("rate = 1, every = \"1s\"", &["phases.0.every", "goes with `burst`"]);
    check("rate = -1", &["phases.0.rate", "from 0"]);
    check("rate = 1, to = 1e9", &["phases.0.to", "10000000"]);
    check("rate = 0", &["publishers.0.phases", "all pauses"]);
    check("rte = 1", &["phases.0.rte", "did you mean `rate`?"]);
    refused(&["publishers.0.arrival=poisson"], &["publishers.0.arrival", "needs a schedule"]);
    refused(&["publishers.0.late=skip"], &["publishers.0.late", "needs a schedule"]);
    refused(&["publishers.0.after-phases=stop"], &["publishers.0.after-phases", "none"]);
    let both = ["publishers.0.rate=1", "publishers.0.phases=[{ for = \"1s\", rate = 1 }]"];
    refused(&both, &["publishers.0.rate", "either `rate` or `phases`"]);
}

#[test]
fn a_run_warms_up_and_begins_on_time() {
    let run = |overrides: &[&str]| read(SMALL, overrides).unwrap().run;
    let duration = Some(Duration::from_secs(10));
    assert_eq!(run(&[]), RunOptions { duration, ..RunOptions::default() });
    assert_eq!(run(&["run.warm-up=auto"]).warm_up, Some(WarmUp::Auto));
    let five = Some(WarmUp::Time(Duration::from_secs(5)));
    assert_eq!(run(&["run.warm-up=5s"]).warm_up, five);
    let start = run(&["run.start-at=2100-03-01T00:00:00Z"]).start_at;
    assert_eq!(start, Some(Duration::from_secs(4_107_542_400)));
    refused(&["run.warm-up=10s"], &["run.warm-up", "shorter than `duration`"]);
    refused(&["run.warm-up=often"], &["run.warm-up", "`250ms`", "`auto`"]);
    refused(&["run.start-at=noon"], &["run.start-at", "2026-01-01T12:00:00Z"]);
    refused(&["run.idle-time=1s"], &["run.idle-time", "until = \"idle\""]);
    refused(&["run.until=full"], &["run.until", "`empty`, `idle`"]);
    assert_eq!(run(&["run.step=1ms"]).step, Some(Duration::from_millis(1)));
    for step in ["run.step=10us", "run.step=2s"] {
        refused(&[step], &["run.step", "`50us` to `1s`"]);
    }
    refused(&["run.trace-every=0"], &["run.trace-every", "at least 1"]);
    let alone = SMALL.split("[[consumers]]").next().unwrap();
    let message = read(alone, &["run.verify=true"]).unwrap_err().to_string();
    assert!(message.contains("run.verify"), "{message}");
}

#[test]
fn a_queue_may_be_on_a_broker_that_is_there() {
    let overrides = ["broker.uri=amqp://h", "publishers.0.queue=p", "consumers.0.queue=p"];
    read(SMALL, &overrides).unwrap();
    read(&SMALL.replace("queue = \"q\"\n[[c", "exchange = \"e\"\n[[c"), &overrides[..1]).unwrap();
}

#[test]
fn a_password_never_leaves() {
    for uri in ["amqp://u:secret@h/v", "amqp://u:secret:secret@h?heartbeat=3", "amqp://:secret@h"] {
        let scenario = read(SMALL, &[&format!("broker.uri={uri}")]).unwrap();
        let json = serde_json::to_string(&scenario).unwrap();
        for text in [scenario.to_toml(), json, format!("{scenario:?}")] {
            assert!(!text.contains("secret"), "{text}");
        }
    }
    for uri in ["amqp://u:sec/ret@h", "amqp://u:p@h?password=ret", "amqp://u:p?@ret", "ret@h"] {
        let message = read(SMALL, &[&format!("broker.uri={uri}")]).unwrap_err().to_string();
        assert!(!message.contains("ret"), "{message}");
    }
    for wrong in ["broker=", "", "run.duration=", "queues.0.type=", "seed=", "publishers.0.size="] {
        let message = read(SMALL, &[&format!("{wrong}amqp://u:secret@h")]).unwrap_err().to_string();
        assert!(!message.contains("secret"), "{message}");
    }
}

#[test]
fn every_resolved_scenario_reads_back_as_itself() {
    let mut random = Random(7);
    for _ in 0..1_000 {
        let scenario = random.scenario();
        let text = scenario.to_toml();
        match parse(&text, "resolved", &[]) {
            Ok(again) => assert_eq!(again, scenario, "{text}"),
            Err(error) => panic!("{error}\n{text}"),
        }
    }
}

#[test]
fn several_brokers_read_back_as_themselves() {
    let several = read(SMALL, &["broker.nodes=2", "broker.cluster=false"]).unwrap();
    assert!(several.broker.spec.is_several_brokers());
    assert_eq!(parse(&several.to_toml(), "resolved", &[]).unwrap(), several);
}

#[test]
fn the_scenarios_that_come_with_the_program_are_valid() {
    let files = [
        ("stream-publish", include_str!("../../../../scenarios/stream-publish.toml")),
        ("stream-consume", include_str!("../../../../scenarios/stream-consume.toml")),
        ("classic-confirm", include_str!("../../../../scenarios/classic-confirm.toml")),
        ("classic-autoack", include_str!("../../../../scenarios/classic-autoack.toml")),
        ("rpc", include_str!("../../../../scenarios/rpc.toml")),
        ("churn", include_str!("../../../../scenarios/churn.toml")),
    ];
    for (name, text) in files {
        assert_eq!(parse(text, name, &[]).unwrap().name, name);
    }
}

#[test]
fn damaged_text_is_refused_without_panic() {
    let mut random = Random(11);
    let whole = random.scenario().to_toml();
    for _ in 0..1_000 {
        let mut bytes = whole.clone().into_bytes();
        for _ in 0..=random.below(3) {
            let at = random.below(bytes.len());
            match random.below(3) {
                0 => bytes.truncate(at + 1),
                1 => bytes[at] = u8::try_from(random.below(128)).unwrap(),
                _ => drop(bytes.remove(at)),
            }
        }
        let _ = parse(&String::from_utf8_lossy(&bytes), "damaged", &[]);
    }
}
