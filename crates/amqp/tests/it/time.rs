//! Heartbeats, driven by the test's own clock.

use std::time::{Duration, Instant};

use rabbitscope_amqp::{ConnectionError, Event};
use rabbitscope_protocol::{Input, Wire as _};

use crate::connection;

const CONTROL: &[u8] = include_bytes!("recorded/control.bin");
const HEARTBEAT: [u8; 8] = [8, 0, 0, 0, 0, 0, 0, 0xce];

#[test]
fn heartbeats_go_out_in_time_and_are_missed_in_time() {
    let mut connection = connection();
    let mut frames = Input::new(CONTROL);
    while connection.next_event(&mut frames).unwrap() != Some(Event::Opened) {}
    let start = Instant::now();
    connection.has_read(start);
    connection.has_written(start);
    let waiting = connection.output().pending().len();
    connection.output().advance(waiting);
    let at = |seconds| start + Duration::from_secs(seconds);

    assert_eq!(connection.next_tick(), Some(at(30)));
    connection.tick(at(29)).unwrap();
    assert!(connection.output().is_empty());
    connection.tick(at(30)).unwrap();
    assert_eq!(connection.output().pending(), HEARTBEAT);
    connection.tick(at(31)).unwrap();
    assert_eq!(connection.output().pending(), HEARTBEAT, "one is enough");

    connection.has_read(at(50));
    connection.tick(at(169)).unwrap();
    let missed = ConnectionError::HeartbeatMissed { seconds: 120 };
    assert_eq!(connection.tick(at(170)), Err(missed));
}
