//! Faults of a connection are found, but not in its correct counterpart. The limits of a sender are planted in
//! `limits`.

use std::{thread, time::Duration};

use rabbitscope_broker::Broker;
use rabbitscope_testing::{Workbench, find, own_broker, pause};
use serde_json::Value;

use super::{
    client::Client,
    looking::{assert_told_apart, look, stop},
};

/// Connections by fault; the second of each pair is correct.
struct Planted {
    frame_by_frame: [u16; 2],
    nagle: [u16; 2],
    acks: [u16; 2],
    slow_reader: [u16; 2],
    slow_login: [u16; 2],
}

#[test]
fn what_is_planted_is_found_and_nothing_else() {
    let Some(bench) = Workbench::for_root("planted-packets") else { return };
    let broker = own_broker();
    let port = broker.address().port();
    let looking =
        look(&bench, &format!("--port {port} --duration 60s -o p.json -o p.html -o p.pcapng"));
    let planted = Planted {
        frame_by_frame: [publish_many(&broker, true), publish_many(&broker, false)],
        nagle: [publish_and_wait(&broker, false), publish_and_wait(&broker, true)],
        acks: [consume(&broker, 1), consume(&broker, 20)],
        slow_reader: [
            read_late(&broker, Duration::from_millis(1500)),
            read_late(&broker, Duration::ZERO),
        ],
        slow_login: [
            log_in(&broker, Duration::from_millis(1500)),
            log_in(&broker, Duration::from_millis(500)),
        ],
    };
    stop(looking);
    let report = bench.json("p.json");
    assert_eq!(report["capture"]["dropped"], 0);
    for (rule, pair) in [
        ("frame-by-frame", planted.frame_by_frame),
        ("delayed-acknowledgement", planted.nagle),
        ("ack-per-message", planted.acks),
        ("zero-window", planted.slow_reader),
        ("slow-login", planted.slow_login),
    ] {
        assert_told_apart(&report, rule, pair);
    }
    let page = bench.read("p.html");
    assert!(page.contains("TCP_NODELAY"), "the fix stands on the page");
    stalls_have_their_packets(&report);
}

/// Asserts three packets per stall: the small segment, the acknowledgement, and the following packet.
fn stalls_have_their_packets(report: &Value) {
    let stalls = find(&report["findings"], "rule", "delayed-acknowledgement");
    let packets: Vec<u64> =
        stalls["packets"].as_array().unwrap().iter().filter_map(Value::as_u64).collect();
    assert!(
        packets.len() >= 3 && packets[0] < packets[1] && packets[1] < packets[2],
        "{packets:?}"
    );
    let pictures = report["time-sequences"].as_array().unwrap();
    assert!(
        pictures.iter().any(|picture| picture["title"].as_str().unwrap().contains("no room")),
        "drawn"
    );
}

/// Publishes some thousand messages a second: each frame separately, or a message at a time. The kernel combines
/// writes without a pause.
fn publish_many(broker: &Broker, frame_by_frame: bool) -> u16 {
    let mut client = Client::connect(broker, true);
    let queue = client.declare("many");
    let frames = Client::publish(&queue, &[7; 40]);
    let pause = || thread::sleep(Duration::from_micros(100));
    for _ in 0..2_000 {
        if frame_by_frame {
            for frame in &frames {
                client.write(frame);
                pause();
            }
        } else {
            client.write(&frames.concat());
            pause();
        }
    }
    // The close loses nothing: the broker reads all frames before it answers.
    client.declare("end");
    client.local_port()
}

/// Publishes one message after the other, in two writes. With Nagle's algorithm, the second write waits for the
/// acknowledgement of the first.
fn publish_and_wait(broker: &Broker, nodelay: bool) -> u16 {
    let mut client = Client::connect(broker, nodelay);
    let queue = client.declare("waits");
    client.confirm();
    let [method, header, body] = Client::publish(&queue, &[7; 40]);
    for _ in 0..60 {
        client.write(&method);
        client.write(&[&header[..], &body].concat());
        client.expect(60, 80);
    }
    client.local_port()
}

/// Acknowledges once per `each` messages.
fn consume(broker: &Broker, each: u16) -> u16 {
    let mut client = Client::connect(broker, true);
    let queue = client.declare("acks");
    client.prefetch(each.max(2));
    client.consume(&queue, false);
    let message = Client::publish(&queue, &[7; 40]).concat();
    for number in 1..=400 {
        client.write(&message);
        let tag = client.delivery();
        if number % each == 0 {
            client.ack(tag, each > 1);
        }
    }
    client.local_port()
}

/// Requests much data, and begins to read it after a delay.
fn read_late(broker: &Broker, after: Duration) -> u16 {
    const MESSAGES: u32 = 300;
    let mut client = Client::connect(broker, true);
    let mut publisher = Client::connect(broker, true);
    let queue = client.declare("late");
    client.consume(&queue, true);
    let port = client.local_port();
    // The queue is exclusive to the consumer, but any client may publish to it.
    let message = Client::publish(&queue, &vec![7; 100_000]).concat();
    let reading = thread::spawn(move || {
        thread::sleep(after);
        for _ in 0..MESSAGES {
            client.delivery();
        }
    });
    for _ in 0..MESSAGES {
        publisher.write(&message);
    }
    reading.join().unwrap();
    port
}

/// Logs in while the broker is stopped for a time.
fn log_in(broker: &Broker, stopped: Duration) -> u16 {
    let node = broker.pid;
    let pausing = thread::spawn(move || pause(node, stopped));
    thread::sleep(Duration::from_millis(200));
    let client = Client::connect(broker, true);
    pausing.join().unwrap();
    client.local_port()
}
