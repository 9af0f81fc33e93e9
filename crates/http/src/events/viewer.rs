//! The place of one viewer in a broadcast.

use std::{
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use hyper::body::Bytes;
use tokio::time::{Sleep, sleep};

use super::Broadcast;

/// Interval of comments while there are no events. They find out that a client is gone, and keep proxies from closing.
const KEEP_ALIVE_INTERVAL: Duration = Duration::from_secs(15);

/// Number of events that a viewer may fall behind, from the least that it once was.
const MAX_LAG: u64 = 64;

/// A client of a broadcast.
#[derive(Debug)]
pub(crate) struct Viewer {
    broadcast: Broadcast,
    number: u64,
    /// Number of its next event.
    next: u64,
    needs_head: bool,
    /// Number of events that it may be behind.
    may_lag: u64,
    silence: Option<Pin<Box<Sleep>>>,
}

impl Viewer {
    /// Creates a viewer that has received the event of number `last`.
    pub(crate) fn new(broadcast: &Broadcast, last: Option<u64>) -> Self {
        let mut ring = broadcast.locked();
        ring.viewers += 1;
        ring.connected += 1;
        let kept = ring.first..=ring.end();
        let next = last.and_then(|last| last.checked_add(1)).filter(|next| kept.contains(next));
        Self {
            broadcast: broadcast.clone(),
            number: ring.viewers,
            next: next.unwrap_or(ring.first),
            needs_head: next.is_none(),
            may_lag: u64::MAX,
            silence: None,
        }
    }

    /// Returns the next event when there is one. Ends for a viewer that has fallen behind. It connects again, with the
    /// number of its last event.
    pub(crate) fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let mut ring = self.broadcast.locked();
        if self.needs_head {
            self.needs_head = false;
            return Poll::Ready(Some(ring.head.clone()));
        }
        let lag = ring.end() - self.next;
        self.may_lag = self.may_lag.min(lag.saturating_add(MAX_LAG));
        if lag > self.may_lag || self.next < ring.first {
            return Poll::Ready(None);
        }
        if let Some(event) = ring.event(self.next) {
            self.next += 1;
            self.silence = None;
            return Poll::Ready(Some(event));
        }
        ring.waiting.insert(self.number, context.waker().clone());
        drop(ring);
        let silence = self.silence.get_or_insert_with(|| Box::pin(sleep(KEEP_ALIVE_INTERVAL)));
        silence.as_mut().poll(context).map(|()| {
            self.silence = None;
            Some(Bytes::from_static(b":\n\n"))
        })
    }
}

impl Drop for Viewer {
    fn drop(&mut self) {
        let mut ring = self.broadcast.locked();
        ring.waiting.remove(&self.number);
        ring.connected -= 1;
    }
}

#[cfg(test)]
mod tests {
    use std::task::Waker;

    use super::*;

    fn next(viewer: &mut Viewer) -> Poll<Option<String>> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let _entered = runtime.enter();
        let next = viewer.poll_next(&mut Context::from_waker(Waker::noop()));
        viewer.silence = None;
        next.map(|next| next.map(|bytes| String::from_utf8(bytes.to_vec()).unwrap()))
    }

    fn event(number: u64) -> Poll<Option<String>> {
        Poll::Ready(Some(format!("id: {number}\nevent: tick\ndata: {number}\n\n")))
    }

    fn broadcast(events: u64, max_bytes: usize) -> Broadcast {
        let broadcast = Broadcast::new("h", max_bytes);
        (0..events).for_each(|number| broadcast.send("tick", &number.to_string()));
        broadcast
    }

    const HEAD: &str = "retry: 3000\nevent: head\ndata: h\n\n";

    #[test]
    fn a_new_viewer_gets_head_and_all_that_is_kept() {
        let broadcast = broadcast(2, 1000);
        let mut viewer = Viewer::new(&broadcast, None);
        assert_eq!(next(&mut viewer), Poll::Ready(Some(HEAD.to_owned())));
        assert_eq!([next(&mut viewer), next(&mut viewer)], [event(0), event(1)]);
        assert!(next(&mut viewer).is_pending());
        broadcast.send("tick", "2");
        assert_eq!(next(&mut viewer), event(2));
    }

    #[test]
    fn a_viewer_that_comes_back_misses_nothing() {
        fn check(last: u64, expected: &Poll<Option<String>>) {
            // The latest four of ten events are kept.
            let broadcast = broadcast(10, 4 * 28);
            assert_eq!(&next(&mut Viewer::new(&broadcast, Some(last))), expected, "{last}");
        }
        let head = Poll::Ready(Some(HEAD.to_owned()));
        check(4, &head);
        check(5, &event(6));
        check(8, &event(9));
        check(9, &Poll::Pending);
        check(10, &head);
        check(u64::MAX, &head);
    }

    #[test]
    fn a_viewer_that_falls_behind_is_let_go() {
        // A long backlog alone is none: the viewer has only come.
        let broadcast = broadcast(500, 1 << 20);
        let mut viewer = Viewer::new(&broadcast, Some(0));
        for number in 1..400 {
            assert_eq!(next(&mut viewer), event(number));
        }
        (0..MAX_LAG).for_each(|_| broadcast.send("tick", ""));
        assert_eq!(next(&mut viewer), event(400));
        (0..3).for_each(|_| broadcast.send("tick", ""));
        assert_eq!(next(&mut viewer), Poll::Ready(None));
    }

    #[test]
    fn a_viewer_whose_event_is_gone_is_let_go() {
        let broadcast = broadcast(1, 30);
        let mut viewer = Viewer::new(&broadcast, Some(0));
        (1..3).for_each(|number: u64| broadcast.send("tick", &number.to_string()));
        assert_eq!(next(&mut viewer), Poll::Ready(None));
    }

    #[test]
    fn a_viewer_that_left_is_forgotten() {
        let broadcast = broadcast(1, 1000);
        let mut viewer = Viewer::new(&broadcast, Some(0));
        assert!(next(&mut viewer).is_pending() && next(&mut viewer).is_pending());
        assert_eq!(broadcast.locked().waiting.len(), 1);
        assert_eq!(broadcast.viewers(), 1);
        drop(viewer);
        assert!(broadcast.locked().waiting.is_empty());
        assert_eq!(broadcast.viewers(), 0);
    }
}
