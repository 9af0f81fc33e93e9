//! The latest events, for all viewers.

use std::{
    collections::{BTreeMap, VecDeque},
    fmt::Write,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::Waker,
};

use hyper::body::Bytes;

/// Time after which a browser connects again, in milliseconds.
const RETRY_MILLISECONDS: u32 = 3000;

/// A sequence of events that any number of viewers receive. A clone is another handle.
#[derive(Clone, Debug)]
pub struct Broadcast(Arc<Mutex<Ring>>);

#[derive(Debug)]
pub(super) struct Ring {
    /// The event of every new viewer.
    pub(super) head: Bytes,
    events: VecDeque<Bytes>,
    /// Number of the oldest event that is kept.
    pub(super) first: u64,
    bytes: usize,
    max_bytes: usize,
    /// Viewers that have received all events, by their number.
    pub(super) waiting: BTreeMap<u64, Waker>,
    /// Number of viewers until now.
    pub(super) viewers: u64,
    /// Number of viewers that are connected.
    pub(super) connected: usize,
}

impl Broadcast {
    /// Creates a sequence that keeps its latest events, of up to `max_bytes` altogether. Every new viewer first
    /// receives `head` as the event `head`. So does a viewer whose next event is no longer kept.
    pub fn new(head: &str, max_bytes: usize) -> Self {
        let head = format!("retry: {RETRY_MILLISECONDS}\n{}", block("head", head));
        Self(Arc::new(Mutex::new(Ring {
            head: head.into(),
            events: VecDeque::new(),
            first: 0,
            bytes: 0,
            max_bytes,
            waiting: BTreeMap::new(),
            viewers: 0,
            connected: 0,
        })))
    }

    /// Sends an event of this name to all viewers. Never waits for one.
    pub fn send(&self, name: &str, data: &str) {
        let waiting = {
            let mut ring = self.locked();
            let event = format!("id: {}\n{}", ring.end(), block(name, data));
            ring.push(event.into());
            std::mem::take(&mut ring.waiting)
        };
        for waker in waiting.into_values() {
            waker.wake();
        }
    }

    /// Returns the number of connected viewers.
    pub fn viewers(&self) -> usize {
        self.locked().connected
    }

    pub(super) fn locked(&self) -> MutexGuard<'_, Ring> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Ring {
    /// Returns the number of the next event.
    pub(super) fn end(&self) -> u64 {
        self.first + self.events.len() as u64
    }

    /// Returns the event of this number, if it is kept.
    pub(super) fn event(&self, number: u64) -> Option<Bytes> {
        let index = usize::try_from(number.checked_sub(self.first)?).ok()?;
        self.events.get(index).cloned()
    }

    /// Adds an event, and drops the oldest ones beyond the limit. The latest event always stays.
    fn push(&mut self, event: Bytes) {
        self.bytes += event.len();
        self.events.push_back(event);
        while self.bytes > self.max_bytes && self.events.len() > 1 {
            self.bytes -= self.events.pop_front().map_or(0, |event| event.len());
            self.first += 1;
        }
    }
}

/// Returns an event as text. Every line of the data is one field (WHATWG HTML, "Server-sent events").
fn block(name: &str, data: &str) -> String {
    let mut text = format!("event: {name}\n");
    for line in data.split(['\n', '\r']) {
        writeln!(text, "data: {line}").expect("a string takes everything");
    }
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_bounded() {
        let broadcast = Broadcast::new("", 100_000);
        for _ in 0..200 {
            broadcast.send("tick", &"x".repeat(20_000));
        }
        let ring = broadcast.locked();
        assert!(ring.bytes <= 100_000 && ring.events.len() == 4, "{}", ring.bytes);
        assert_eq!((ring.first, ring.end()), (196, 200));
        assert!(ring.event(195).is_none() && ring.event(196).is_some());
    }

    #[test]
    fn an_event_larger_than_the_limit_is_sent() {
        let broadcast = Broadcast::new("", 10);
        broadcast.send("tick", &"x".repeat(20));
        assert_eq!(broadcast.locked().events.len(), 1);
    }

    #[test]
    fn data_of_several_lines_stays_one_event() {
        assert_eq!(block("tick", "a\n\nid: 5"), "event: tick\ndata: a\ndata: \ndata: id: 5\n\n");
        assert_eq!(block("tick", "a\revent: b"), "event: tick\ndata: a\ndata: event: b\n\n");
    }
}
