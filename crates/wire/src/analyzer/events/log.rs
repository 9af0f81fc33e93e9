//! Equal events, with their counts.

use std::collections::HashMap;

use crate::{
    packet::Timestamp,
    report::{ConnectionEvent, EventKind, Side},
};

/// Maximum of different events. Peers choose the texts, which may differ each time.
const EVENTS_MAX: usize = 512;
/// Maximum of connections and of packets that each event names.
const NAMED_MAX: usize = 10;

/// A single occurrence of an event.
#[derive(Clone, Debug)]
pub(in super::super) struct Seen {
    pub(in super::super) kind: EventKind,
    pub(in super::super) from: Side,
    pub(in super::super) code: Option<u32>,
    pub(in super::super) text: String,
    pub(in super::super) time: Timestamp,
    pub(in super::super) packet: Option<u64>,
}

type Key = (EventKind, Side, Option<u32>, String);

/// Events, in order of their first occurrence.
#[derive(Debug, Default)]
pub(in super::super) struct EventLog {
    events: Vec<ConnectionEvent>,
    places: HashMap<Key, (usize, u64)>,
}

impl EventLog {
    /// Counts an event of the connection with this number and name.
    pub(in super::super) fn add(&mut self, seen: &Seen, number: u64, label: impl Fn() -> String) {
        let key = (seen.kind, seen.from, seen.code, seen.text.clone());
        if !self.places.contains_key(&key) && self.events.len() >= EVENTS_MAX {
            return self.add_to_last_of_kind(seen);
        }
        let next = self.events.len();
        let (place, last) = self.places.entry(key).or_insert((next, u64::MAX));
        if *place == next {
            self.events.push(event(seen));
        }
        let event = &mut self.events[*place];
        event.count += 1;
        event.last = event.last.max(seen.time);
        if std::mem::replace(last, number) != number {
            event.connections_in_all += 1;
            if event.connections.len() < NAMED_MAX {
                event.connections.push(label());
            }
        }
        event.packets.extend(seen.packet.filter(|_| event.packets.len() < NAMED_MAX));
    }

    /// Counts the event with the last one of its kind, because there are too many different texts.
    fn add_to_last_of_kind(&mut self, seen: &Seen) {
        let alike = self.events.iter_mut().rev().find(|event| event.kind == seen.kind);
        if let Some(event) = alike {
            event.count += 1;
            event.last = event.last.max(seen.time);
        }
    }

    pub(in super::super) fn into_events(self) -> Vec<ConnectionEvent> {
        self.events
    }
}

fn event(seen: &Seen) -> ConnectionEvent {
    ConnectionEvent {
        kind: seen.kind,
        from: seen.from,
        code: seen.code,
        text: seen.text.clone(),
        count: 0,
        first: seen.time,
        last: seen.time,
        connections: Vec::new(),
        connections_in_all: 0,
        packets: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(text: &str, millis: u64) -> Seen {
        Seen {
            kind: EventKind::ChannelClosed,
            from: Side::Broker,
            code: Some(404),
            text: text.to_owned(),
            time: Timestamp::from_unix_nanos(millis * 1_000_000),
            packet: Some(millis),
        }
    }

    #[test]
    fn alike_events_are_one() {
        let mut log = EventLog::default();
        for (text, connection) in
            [("no queue", 1), ("no queue", 1), ("no exchange", 1), ("no queue", 2)]
        {
            log.add(&seen(text, connection), connection, || connection.to_string());
        }
        let events = log.into_events();
        assert_eq!(events.len(), 2);
        assert_eq!((events[0].count, events[0].connections_in_all), (3, 2));
        assert_eq!(
            (&events[0].connections[..], &events[0].packets[..]),
            (&["1".to_owned(), "2".to_owned()][..], &[1, 1, 2][..])
        );
    }

    #[test]
    fn texts_that_differ_each_time_take_bounded_memory() {
        let mut log = EventLog::default();
        for number in 0..2_000 {
            log.add(&seen(&number.to_string(), number), number, || number.to_string());
        }
        let events = log.into_events();
        assert_eq!(events.len(), EVENTS_MAX);
        assert_eq!(events.iter().map(|event| event.count).sum::<u64>(), 2_000);
    }
}
