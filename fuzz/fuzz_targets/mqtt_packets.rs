//! Bytes of MQTT from a broker, in any pieces, with and without a login before: the connection ends in events or an error,
//! keeps at most one packet that is not copied, and confirms each message that was sent once.
#![no_main]

use std::{collections::BTreeSet, time::Instant};

use libfuzzer_sys::fuzz_target;
use rabbitscope_mqtt::{
    Connection, Event, Login, Mechanism, QualityOfService, Template, Topic, Version,
};
use rabbitscope_protocol::{Input, Wire as _};

/// A packet may wait for its rest, or for the part of it that is copied first.
const WAITING_MAX: usize = 128 * 1024;

/// Messages that the broker may acknowledge.
const MESSAGES: u16 = 40;

fuzz_target!(|data: &[u8]| {
    let [mode, piece, data @ ..] = data else { return };
    let version = if mode & 2 == 0 { Version::V3 } else { Version::V5 };
    let login = Login {
        version,
        user: "guest".to_owned(),
        password: "guest".to_owned(),
        vhost: "/".to_owned(),
        mechanism: Mechanism::Plain,
        client_id: "fuzz".to_owned(),
        keep_alive_seconds: None,
        receive_maximum: None,
    };
    let mut fed = Fed {
        connection: Connection::new(login, Instant::now()),
        kept: Vec::new(),
        confirmed: BTreeSet::new(),
    };
    if mode & 1 == 1 {
        let answer: &[u8] = if mode & 2 == 0 { b"\x20\x02\0\0" } else { b"\x20\x03\0\0\0" };
        assert!(fed.feed(answer), "the login is right");
        fed.connection.subscribe(&["a"], QualityOfService::AtLeastOnce);
        (0..3).for_each(|_| fed.connection.ping());
        let topic = Topic::new("t", QualityOfService::AtLeastOnce, version);
        let sent = fed.connection.publish(&Template::new(topic, 0), MESSAGES.into()).count();
        assert_eq!(sent, usize::from(MESSAGES));
    }
    for piece in data.chunks(usize::from(*piece) + 1) {
        if !fed.feed(piece) {
            return;
        }
    }
});

/// A connection, its bytes that wait, and the messages that are confirmed.
struct Fed {
    connection: Connection,
    kept: Vec<u8>,
    confirmed: BTreeSet<u64>,
}

impl Fed {
    /// False: the connection is over.
    fn feed(&mut self, bytes: &[u8]) -> bool {
        self.kept.extend_from_slice(bytes);
        let mut input = Input::new(&self.kept);
        let mut events = 0;
        loop {
            match self.connection.next_event(&mut input) {
                Ok(Some(event)) => {
                    events += 1;
                    assert!(events <= self.kept.len(), "an event takes at least a byte");
                    if let Event::Delivery(message) = &event {
                        let value = message.user_property("rabbitscope-stamp");
                        assert!(value.is_none_or(|value| value.len() < message.properties.len()));
                    }
                    if let Event::Confirmed { first, last, .. } = event {
                        for number in first..=last {
                            assert!((1..=MESSAGES.into()).contains(&number), "it was sent");
                            assert!(self.confirmed.insert(number), "it is confirmed once");
                        }
                    }
                }
                Ok(None) => break,
                Err(error) => {
                    assert!(!error.to_string().is_empty());
                    return false;
                }
            }
        }
        let consumed = input.consumed();
        self.kept.drain(..consumed);
        assert!(self.kept.len() <= WAITING_MAX, "{} bytes wait", self.kept.len());
        true
    }
}
