//! The window of a session in both directions: frames of messages that may be in flight (part 2, section 2.5.6).

use crate::serial::Serial;

/// Frames of messages that this client takes ahead. Credit of links is the limit that counts.
pub(super) const INCOMING_WINDOW: u32 = i32::MAX as u32;

/// The first `transfer-id` of this client.
pub(super) const FIRST_OUTGOING: Serial = Serial(0);

/// The window of a session.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    /// Number of the next frame to send.
    pub(super) next_outgoing: Serial,
    /// Number of the frame that exceeds the broker's window.
    outgoing_end: Serial,
    /// Number of the next frame to receive.
    pub(super) next_incoming: Serial,
    /// True while the broker takes no frames at all.
    pub(super) is_blocked: bool,
}

impl Default for Window {
    fn default() -> Self {
        Self::new(FIRST_OUTGOING)
    }
}

impl Window {
    fn new(first: Serial) -> Self {
        Self {
            next_outgoing: first,
            outgoing_end: first,
            next_incoming: Serial(0),
            is_blocked: false,
        }
    }

    /// Handles the broker's `begin`.
    pub(super) fn begin(&mut self, next_outgoing_id: u32, incoming_window: u32) {
        self.next_incoming = Serial(next_outgoing_id);
        self.outgoing_end = self.next_outgoing.plus(incoming_window);
    }

    /// Handles the session's part of the broker's `flow`. An absent number means that the broker has taken no frame.
    /// Returns true if the broker has stopped or restarted taking frames.
    pub(super) fn flow(&mut self, next_incoming_id: Option<u32>, incoming_window: u32) -> bool {
        let taken = next_incoming_id.map_or(FIRST_OUTGOING, Serial);
        self.outgoing_end = taken.plus(incoming_window);
        let is_blocked = incoming_window == 0;
        std::mem::replace(&mut self.is_blocked, is_blocked) != is_blocked
    }

    /// Returns the frames that may be sent.
    #[inline]
    pub(super) fn room(&self) -> u32 {
        self.outgoing_end.since(self.next_outgoing)
    }

    #[inline]
    pub(super) fn sent(&mut self, frames: u32) {
        self.next_outgoing = self.next_outgoing.plus(frames);
    }

    #[inline]
    pub(super) fn received(&mut self) {
        self.next_incoming = self.next_incoming.plus(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_broker_tells_the_room() {
        let mut window = Window::default();
        window.begin(u32::MAX - 3, 400);
        assert_eq!((window.room(), window.next_incoming), (400, Serial(u32::MAX - 3)));
        window.sent(400);
        assert_eq!(window.room(), 0);
        assert!(!window.flow(Some(300), 400));
        assert_eq!(window.room(), 300);
        assert!(window.flow(Some(400), 0));
        assert_eq!((window.room(), window.is_blocked), (0, true));
        assert!(window.flow(Some(400), 400));
        (0..5).for_each(|_| window.received());
        assert_eq!((window.room(), window.next_incoming), (400, Serial(1)));
    }

    #[test]
    fn frames_are_counted_through_zero() {
        let mut window = Window::new(Serial(u32::MAX - 3));
        window.begin(0, 10);
        for sent in 0..10 {
            assert_eq!(window.room(), 10 - sent);
            window.sent(1);
        }
        assert_eq!((window.room(), window.next_outgoing), (0, Serial(6)));
        window.flow(Some(u32::MAX), 10);
        assert_eq!(window.room(), 3);
        window.flow(Some(2), 10);
        assert_eq!(window.room(), 6);
    }
}
