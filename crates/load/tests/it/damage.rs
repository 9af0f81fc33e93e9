//! Malformed and oversized frames, wrong channels, sudden ends and silence. Each ends the run soon and without a panic,
//! with a sentence about the cause.

use std::{
    sync::atomic::AtomicBool,
    time::{Duration, Instant},
};

use rabbitscope_amqp::Uri;
use rabbitscope_load::{BrokerOwner, LoadError, Session};
use rabbitscope_runs::{record::Verdict, scenario};
use rabbitscope_testing::scenario::{Publishers, Scenario};
use rabbitscope_testing::{encode_frame, existing_broker};
use rabbitscope_topology::{Dialer, TopologyError};

use crate::relay::{self, Damage};

/// Encodes `close` of class 10 (connection) or 20 (channel) with this text.
fn close(class: u8, code: u16, text: &str) -> Vec<u8> {
    let method = if class == 10 { 50 } else { 40 };
    let mut payload = vec![0, class, 0, method];
    payload.extend_from_slice(&code.to_be_bytes());
    payload.push(u8::try_from(text.len()).unwrap());
    payload.extend_from_slice(text.as_bytes());
    payload.extend_from_slice(&[0, 0, 0, 0]);
    payload
}

/// Checks that a run of a minute ends within seconds as aborted, with `expected` in the reason.
#[track_caller]
fn check(damage: Damage, queue: &str, expected: &str) {
    let relay = relay::start(existing_broker().address(), damage);
    let text =
        Scenario::with_queue(queue).publishers(Publishers::new(queue).rate(100)).duration("60s");
    let scenario = scenario::parse(&text.to_string(), "damage", &[]).unwrap();
    let (user, password) = existing_broker().login();
    let uri = Uri::parse(&format!("amqp://{user}:{password}@{relay}/%2f?heartbeat=1")).unwrap();
    let began = Instant::now();
    let mut session = Session::open(&scenario, &Dialer::to(uri), BrokerOwner::Caller).unwrap();
    let outcome = session.run(&mut |_| {}, &AtomicBool::new(false)).unwrap();
    session.close().unwrap();
    let took = began.elapsed();
    let Verdict::Aborted { reason } = outcome.verdict else { panic!("{:?}", outcome.verdict) };
    assert!(reason.contains(expected), "`{expected}` is not in: {reason}");
    assert!(took < Duration::from_secs(20), "{took:?}");
}

#[test]
fn frames_that_are_none() {
    check(Damage::Inject(b"HTTP/1.1 400".to_vec()), "none", "unknown type 72");
    check(Damage::Inject(vec![1, 0, 1, 0, 0, 0, 1, 0, 0]), "none", "ends in 0x00");
    let oversized = [1, 0, 1, 0x7f, 0xff, 0xff, 0xff];
    check(Damage::Inject(oversized.to_vec()), "none", "the limit is 131072");
}

#[test]
fn frames_in_the_wrong_place() {
    let ack = [0, 60, 0, 80, 0, 0, 0, 0, 0, 0, 0, 1, 0];
    check(
        Damage::Inject(encode_frame(1, 9, &ack)),
        "places",
        "on channel 9, where it is not allowed",
    );
    check(
        Damage::Inject(encode_frame(1, 1, &ack)),
        "places",
        "channel 1, which does not use confirms",
    );
    check(Damage::Inject(encode_frame(3, 1, b"body")), "places", "a body on channel 1");
    check(Damage::Inject(encode_frame(1, 1, &[0, 60, 0, 60, 200])), "places", "short of bytes");
}

#[test]
fn the_brokers_words_are_passed_on() {
    let end = encode_frame(1, 0, &close(10, 320, "CONNECTION_FORCED - by the test"));
    check(Damage::Inject(end), "words", "CONNECTION_FORCED - by the test");
    let end = encode_frame(1, 1, &close(20, 406, "PRECONDITION_FAILED - by the test"));
    check(Damage::Inject(end), "words", "PRECONDITION_FAILED - by the test");
    check(Damage::Close, "words", "the connection");
}

#[test]
fn silence_in_the_middle_of_a_frame() {
    let begun = encode_frame(1, 1, &close(20, 406, "never seen"))[..10].to_vec();
    check(Damage::InjectAndStall(begun), "silence", "the broker sent nothing for 2 s");
}

#[test]
fn a_peer_that_never_answers_is_given_up() {
    let silent = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let text = Scenario::with_queue("q")
        .publishers(Publishers::new("q"))
        .duration("1s")
        .connect_timeout("500ms");
    let scenario = scenario::parse(&text.to_string(), "silent", &[]).unwrap();
    let uri = Uri::parse(&format!("amqp://{}", silent.local_addr().unwrap())).unwrap();
    let dialer = Dialer::new(vec![uri], &scenario.broker.connecting, 1).unwrap();
    let began = Instant::now();
    let refused = Session::open(&scenario, &dialer, BrokerOwner::Caller).unwrap_err();
    assert!(matches!(refused, LoadError::Topology(TopologyError::Unreachable { .. })), "{refused}");
    assert!(began.elapsed() < Duration::from_secs(5));
}
