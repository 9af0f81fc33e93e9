//! Writes and reads of known sizes by a node.

use std::{
    io::{Read, Write},
    net::TcpListener,
    thread,
};

use rabbitscope_probe::packets::{PacketError, PortSet, SizeBucket, WriteCounter, WriteDirection};

use crate::bench::{node, not_run};

const ANSWER_BYTES: usize = 5000;

/// Code for the node: 500 writes of 100 bytes, 20 of 3,000, and one read until 5,000 bytes are there. The other end
/// reads written bytes before more is written than its buffer holds.
fn talk(port: u16) -> String {
    format!(
        "{{ok, S}} = gen_tcp:connect({{127,0,0,1}}, {port}, [binary, {{active, false}}, {{nodelay, true}}]), \
         [ok = gen_tcp:send(S, binary:copy(<<0>>, 100)) || _ <- lists:seq(1, 500)], \
         [ok = gen_tcp:send(S, binary:copy(<<0>>, 3000)) || _ <- lists:seq(1, 20)], \
         {{ok, _}} = gen_tcp:recv(S, {ANSWER_BYTES}), gen_tcp:close(S)."
    )
}

/// The other end: reads all that the node writes, then answers.
fn answer(listener: &TcpListener) {
    let (mut stream, _) = listener.accept().unwrap();
    let mut bytes = vec![0; 500 * 100 + 20 * 3000];
    stream.read_exact(&mut bytes).unwrap();
    stream.write_all(&[0; ANSWER_BYTES]).unwrap();
    assert_eq!(stream.read(&mut bytes).unwrap(), 0);
}

#[test]
fn writes_of_a_node_are_counted_by_size() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let other = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = |listener: &TcpListener| listener.local_addr().unwrap().port();
    let counter = match WriteCounter::attach(node().pid, &PortSet::new([port(&listener)]).unwrap())
    {
        Err(error @ PacketError::NoTracepoint { .. }) => {
            return not_run(&error.to_string());
        }
        attached => attached.unwrap(),
    };
    for listener in [listener, other] {
        let port = port(&listener);
        let reader = thread::spawn(move || answer(&listener));
        node().eval(&talk(port)).unwrap();
        reader.join().unwrap();
    }

    let sent = counter.counts(WriteDirection::Sent).unwrap();
    assert_eq!((sent.calls, sent.bytes, sent.failed), (520, 110_000, 0), "{sent:?}");
    let buckets: Vec<SizeBucket> = sent.buckets().collect();
    let expected = [
        SizeBucket { first: 96, last: 103, calls: 500 },
        SizeBucket { first: 2816, last: 3071, calls: 20 },
    ];
    assert_eq!(buckets, expected);
    assert_eq!(sent.median(), Some(expected[0]));
    let received = counter.counts(WriteDirection::Received).unwrap();
    assert_eq!(received.bytes, ANSWER_BYTES as u64, "{received:?}");
}

#[test]
fn writes_of_a_process_that_is_no_node_are_not_counted() {
    let ports = PortSet::new([5672]).unwrap();
    let refused = WriteCounter::attach(std::process::id(), &ports).map(drop).unwrap_err();
    let said = refused.to_string();
    assert!(said.contains("not an Erlang VM") || said.contains("Linux 6.3"), "{said}");
}
