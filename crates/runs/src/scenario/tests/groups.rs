//! Callers, responders and churn: their meaning, and the refusals of invalid ones.

use std::time::Duration;

use super::*;

const RPC: &str = r#"
name = "rpc"
[[queues]]
name = "q"
[[requests]]
queue = "q"
messages = 10
[[responders]]
queue = "q"
"#;

#[track_caller]
fn check_refused(text: &str, overrides: &[&str], expected: &[&str]) {
    let message = read(text, overrides).unwrap_err().to_string();
    for part in expected {
        assert!(message.contains(part), "{overrides:?}: `{part}` is not in: {message}");
    }
}

#[test]
fn a_caller_waits_for_its_reply_unless_a_rate_is_given() {
    let of = |overrides: &[&str]| read(RPC, overrides).unwrap().requests[0].clone();
    let closed = of(&[]);
    assert_eq!((closed.concurrency, closed.schedule().rate), (Some(1), None));
    assert_eq!((closed.reply, closed.timeout), (ReplyPath::Direct, Duration::from_secs(10)));
    assert_eq!((closed.count, closed.size_bytes, closed.persistent), (1, 12, false));
    assert_eq!(of(&["requests.0.concurrency=5"]).concurrency, Some(5));
    let open = of(&["requests.0.rate=100"]);
    assert_eq!((open.concurrency, open.schedule().rate), (None, Some(100.0)));
    let ramp = of(&["requests.0.phases=[{ for = \"9s\", rate = 1, to = 9 }]"]);
    assert_eq!((ramp.concurrency, ramp.schedule().phases.len()), (None, 1));
    assert_eq!(of(&["requests.0.reply=queue"]).reply, ReplyPath::Queue);
    let responders = read(RPC, &[]).unwrap().responders[0].clone();
    assert_eq!(
        (responders.prefetch, responders.auto_ack, responders.size_bytes),
        (None, false, 12)
    );
}

#[test]
fn requests_that_cannot_be_are_refused() {
    let refused = |overrides: &[&str], expected: &[&str]| check_refused(RPC, overrides, expected);
    refused(&["requests.0.queue=p"], &["requests.0.queue", "declared are `q`"]);
    refused(&["responders.0.queue=p"], &["responders.0.queue", "declared are `q`"]);
    refused(&["queues.0.type=stream"], &["requests.0.queue", "is a stream"]);
    refused(&["queues.0.exclusive=true"], &["responders.0.queue", "exclusive"]);
    refused(&["requests.0.concurrency=0"], &["requests.0.concurrency", "at least 1"]);
    refused(&["requests.0.rate=0"], &["requests.0.rate", "0.001"]);
    refused(&["requests.0.arrival=poisson"], &["requests.0.arrival", "needs a schedule"]);
    refused(&["requests.0.late=skip"], &["requests.0.late"]);
    refused(&["requests.0.timeout=0s"], &["requests.0.timeout", "longer"]);
    refused(&["requests.0.reply=mail"], &["requests.0.reply", "`direct`", "`queue`"]);
    refused(&["requests.0.channels=2"], &["requests.0.channels"]);
    let both = ["responders.0.auto-ack=true", "responders.0.prefetch=5"];
    refused(&both, &["responders.0.prefetch", "leave one of the two out"]);
    let endless = RPC.replace("messages = 10", "");
    check_refused(&endless, &[], &["never end"]);
    let phases = "requests.0.phases=[{ for = \"1s\", rate = 5 }]";
    check_refused(&endless, &[phases], &["never end"]);
    read(&endless, &[phases, "requests.0.after-phases=stop"]).unwrap();
}

fn churn(kind: &str) -> String {
    format!("name = \"c\"\nrun.duration = \"1s\"\n[[churn]]\nkind = \"{kind}\"\n")
}

#[test]
fn churn_has_what_its_kind_needs() {
    let of =
        |kind: &str, overrides: &[&str]| read(&churn(kind), overrides).unwrap().churn.remove(0);
    let connections = of("connections", &[]);
    assert_eq!((connections.name.as_str(), connections.concurrency), ("churn-0", 1));
    assert_eq!(
        (connections.hold, connections.rate, connections.cycles),
        (Duration::ZERO, None, None)
    );
    let paced = of("channels", &["churn.0.rate=10", "churn.0.hold=2s"]);
    assert_eq!(paced.concurrency, 30, "room for the hold and a second");
    let classic = of("queues", &[]);
    let ChurnSubject::Queues { exclusive, durable, .. } = classic.subject() else {
        panic!("not queues")
    };
    assert!(exclusive && !durable, "goes away by itself");
    let quorum = of("queues", &["churn.0.type=quorum"]);
    let ChurnSubject::Queues { exclusive, durable, .. } = quorum.subject() else {
        panic!("not queues")
    };
    assert!(!exclusive && durable);
    let bindings = of("bindings", &[]);
    let ChurnSubject::Bindings { queue, exchange, .. } = bindings.subject() else {
        panic!("not bindings")
    };
    assert_eq!((queue, exchange), (None, "amq.direct"));
    let ended = churn("channels").replace("run.duration = \"1s\"", "");
    read(&ended, &["churn.0.cycles=5"]).unwrap();
    check_refused(&ended, &[], &["never end", "cycles"]);
}

#[test]
fn churn_that_cannot_be_is_refused() {
    let refused = |kind: &str, overrides: &[&str], expected: &[&str]| {
        check_refused(&churn(kind), overrides, expected);
    };
    refused("threads", &[], &["churn.0.kind", "`connections`", "`consumers`"]);
    let foreign = ["churn.0.queue", "means nothing with `kind = \"channels\"`", "`bindings`"];
    refused("channels", &["churn.0.queue=q"], &foreign);
    refused("connections", &["churn.0.connections=1"], &["churn.0.connections", "`channels`"]);
    refused("consumers", &["churn.0.durable=true"], &["churn.0.durable", "`queues`"]);
    refused("consumers", &["churn.0.queue=p"], &["churn.0.queue", "no queue `p`"]);
    refused("bindings", &["churn.0.exchange=nowhere"], &["churn.0.exchange", "nowhere"]);
    refused("queues", &["churn.0.type=quorum", "churn.0.exclusive=true"], &["churn.0.exclusive"]);
    refused("queues", &["churn.0.type=stream", "churn.0.durable=false"], &["always durable"]);
    refused("queues", &["churn.0.name=a/b"], &["churn.0.name", "letters"]);
    refused("queues", &["churn.0.rate=0"], &["churn.0.rate", "0.001"]);
    refused("channels", &["churn.0.concurrency=3000"], &["2047", "`connections`"]);
    refused("channels", &["churn.0.connections=2"], &["from 1 to `concurrency`"]);
    refused("channels", &["churn.0.cycles=0"], &["churn.0.cycles", "at least 1"]);
}
