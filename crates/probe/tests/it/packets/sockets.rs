//! The kernel's figures of connections, compared with `ss` of iproute2; their changes and owners.

use std::{
    io::{ErrorKind, Write},
    net::TcpStream,
    process::Command,
    thread,
    time::{Duration, Instant},
};

use rabbitscope_probe::{
    listening_ports,
    packets::{PortSet, SocketChange, SocketSampler, TcpSocket, dump_sockets},
    sockets_of,
};

use super::conversation::Conversation;
use crate::bench::node;

/// Writes until the buffers of both ends are full.
fn fill(stream: &mut TcpStream) {
    stream.set_nonblocking(true).unwrap();
    let bytes = vec![0; 1 << 16];
    let mut waits = 0;
    while waits < 5 {
        if let Err(error) = stream.write_all(&bytes) {
            assert_eq!(error.kind(), ErrorKind::WouldBlock);
            waits += 1;
            thread::sleep(Duration::from_millis(20));
        }
    }
}

/// The figures of `ss` for the client of a conversation: all words that have a value after a colon.
fn ss(conversation: &Conversation) -> Vec<(String, String)> {
    let port = conversation.port;
    let said = Command::new("ss").args(["-tinOH", "dport", "=", &format!(":{port}")]).output();
    let said = String::from_utf8(said.unwrap().stdout).unwrap();
    let pairs = said.split_whitespace().filter_map(|word| word.split_once(':'));
    pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

/// The socket of the client.
fn client_of(conversation: &Conversation) -> TcpSocket {
    let sockets = conversation.sockets(None);
    sockets.into_iter().find(|socket| socket.remote.port() == conversation.port).unwrap()
}

#[test]
fn a_receiver_that_stops_reading_limits_the_sender() {
    let mut conversation = Conversation::on("127.0.0.1");
    let mut sampler = SocketSampler::start(conversation.ports(), None, 10).unwrap();
    fill(&mut conversation.client);
    sampler.sample().unwrap();
    thread::sleep(Duration::from_secs(2));
    let found = sampler.sample().unwrap();
    let is_client = |change: &&SocketChange| change.socket.remote.port() == conversation.port;
    let client = found.changes.iter().find(is_client).unwrap();
    assert!(client.progress.receiver_limited_share().unwrap() > 0.95, "{client:?}");
    let busy = client.progress.busy.unwrap().as_secs_f64() / found.elapsed.as_secs_f64();
    assert!((0.9..1.1).contains(&busy), "{client:?} in {:?}", found.elapsed);
    assert!(client.socket.info.unsent_bytes.unwrap() > 0, "{client:?}");
    assert!(found.totals.receive_queue > 0 && found.totals.unsent_bytes > 0);
    assert_eq!((found.totals.sockets, found.totals.new, found.totals.gone), (2, 0, 0));
    agree_with_ss(&conversation);
}

/// Checks that constant figures are equal, and that growing ones lie between those before and after.
fn agree_with_ss(conversation: &Conversation) {
    let before = client_of(conversation);
    let said = ss(conversation);
    let after = client_of(conversation);
    let value = |name: &str| {
        let found = said.iter().find(|(known, _)| known == name);
        found.unwrap_or_else(|| panic!("no {name} in {said:?}")).1.as_str()
    };
    let number = |name: &str| value(name).parse::<u64>().unwrap();
    let info = before.info;
    let scales =
        format!("{},{}", info.send_window_scale.unwrap(), info.receive_window_scale.unwrap());
    assert_eq!(value("wscale"), scales);
    assert_eq!(number("bytes_sent"), info.sent_bytes.unwrap());
    assert_eq!(number("bytes_acked"), info.acknowledged_bytes.unwrap());
    for (name, ours) in [
        ("mss", info.send_segment_size),
        ("cwnd", info.congestion_window),
        ("data_segs_out", info.data_segments_out),
        ("notsent", info.unsent_bytes),
    ] {
        assert_eq!(number(name), u64::from(ours.unwrap()), "{name}");
    }
    let millis = |text: &str| text.split("ms").next().unwrap().parse::<u128>().unwrap();
    for (name, time) in [
        ("busy", (|socket: &TcpSocket| socket.info.busy) as fn(&TcpSocket) -> Option<Duration>),
        ("rwnd_limited", |socket| socket.info.receiver_limited),
    ] {
        let bounds = [&before, &after].map(|socket| time(socket).unwrap().as_millis());
        let theirs = millis(value(name));
        assert!((bounds[0]..=bounds[1]).contains(&theirs), "{name} {theirs}, not in {bounds:?}");
    }
}

#[test]
fn progress_of_a_conversation_is_exact() {
    let mut conversation = Conversation::on("127.0.0.1");
    let mut sampler = SocketSampler::start(conversation.ports(), None, 10).unwrap();
    conversation.exchange(50, 1000);
    thread::sleep(Duration::from_millis(100));
    let found = sampler.sample().unwrap();
    for change in &found.changes {
        let progress = &change.progress;
        assert_eq!(progress.sent_bytes, Some(50_000), "{change:?}");
        assert_eq!(progress.received_bytes, Some(50_000), "{change:?}");
        assert_eq!(progress.data_segments_out, Some(50), "{change:?}");
        assert_eq!(progress.mean_segment_received(), Some(1000.0), "{change:?}");
        assert_eq!(progress.retransmitted_segments, Some(0), "{change:?}");
        assert!(change.socket.info.smallest_round_trip.is_some() && !change.is_new, "{change:?}");
    }
    assert_eq!(found.totals.progress.sent_bytes, Some(100_000));
    drop(conversation);
    thread::sleep(Duration::from_millis(50));
    let gone: usize = (0..3).map(|_| sampler.sample().unwrap().totals.gone).sum();
    assert_eq!(gone, 2);
}

#[test]
fn the_sockets_of_a_broker_are_known_as_its_own() {
    let broker = node();
    let amqp = broker.address().port();
    let ports = listening_ports(broker.pid).unwrap();
    assert!(ports.contains(&amqp), "{ports:?}");
    let _client = TcpStream::connect(broker.address()).unwrap();
    let deadline = Instant::now() + Duration::from_secs(10);
    let is_held = || {
        let held = sockets_of(broker.pid).unwrap();
        let (sockets, _) = dump_sockets(&PortSet::new([amqp]).unwrap(), None, 1000).unwrap();
        // The inode is 0 until the broker has accepted.
        let mut servers =
            sockets.iter().filter(|socket| socket.local.port() == amqp && socket.inode != 0);
        servers.any(|socket| held.contains(&socket.inode))
    };
    while !is_held() {
        assert!(Instant::now() < deadline, "no socket of the broker");
        thread::sleep(Duration::from_millis(50));
    }
    assert!(sockets_of(std::process::id()).is_err(), "this process is no VM");
}

/// Prints the cost of a sample of many sockets.
#[test]
#[ignore = "prints figures, judges nothing"]
fn cost_of_a_sample() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let streams: Vec<_> = (0..500)
        .map(|_| (TcpStream::connect(address).unwrap(), listener.accept().unwrap()))
        .collect();
    let ports = PortSet::new([address.port()]).unwrap();
    let mut sampler = SocketSampler::start(ports, None, 10_000).unwrap();
    let start = Instant::now();
    let count: usize = (0..100).map(|_| sampler.sample().unwrap().changes.len()).sum();
    println!("{:.2} µs a socket", start.elapsed().as_secs_f64() * 1e6 / count as f64);
    drop(streams);
}
