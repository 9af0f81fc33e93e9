//! The login of a connection: the broker's longest time for an answer.

use std::time::Duration;

use super::log::Seen;
use crate::{
    packet::Timestamp,
    protocols::{Frame, Protocol},
    report::{EventKind, Side},
};

/// Time for an answer from which a login is slow.
const SLOW: Duration = Duration::from_secs(1);

/// The answers of the broker until the connection is open. With TLS, that to the client's first bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Login {
    /// The client's last frame.
    step: Option<&'static str>,
    /// Time of the client's last bytes, until the broker answers.
    asked: Option<Timestamp>,
    longest: Option<Answer>,
    /// The login is complete.
    is_done: bool,
}

/// An answer of the broker, or the wait for one.
#[derive(Clone, Copy, Debug)]
struct Answer {
    /// The client's frame before it.
    step: Option<&'static str>,
    asked: Timestamp,
    took: Duration,
}

impl Login {
    /// Processes a frame of the client.
    pub(super) fn client_frame(&mut self, frame: &Frame<'_>) {
        if !self.is_done {
            self.step = Some(frame.kind);
        }
    }

    /// Processes bytes of a side, after their frames. `is_open` tells that these complete the login.
    pub(super) fn bytes(&mut self, sender: Side, time: Timestamp, is_open: bool) {
        if self.is_done {
            return;
        }
        match sender {
            Side::Client => self.asked = self.expects_answer().then_some(time),
            Side::Broker => {
                if let Some(asked) = self.asked.take() {
                    self.add(asked, time);
                }
                self.is_done = is_open;
            }
        }
    }

    /// Returns whether the broker owes an answer to the client's last frame. Heartbeats may follow the others.
    fn expects_answer(&self) -> bool {
        !matches!(self.step, Some("connection.tune-ok" | "tune" | "heartbeat"))
    }

    fn add(&mut self, asked: Timestamp, until: Timestamp) {
        let took = until.since(asked);
        if self.longest.is_none_or(|longest| took > longest.took) {
            self.longest = Some(Answer { step: self.step, asked, took });
        }
    }

    /// Returns the event of a slow answer. A login that the broker refused is left out: it waits before it tells so.
    /// `waited_until` is the time until which the client waited for an answer in vain.
    pub(super) fn slow(
        mut self,
        protocol: Protocol,
        waited_until: Option<Timestamp>,
    ) -> Option<Seen> {
        if !self.is_done {
            self.add(self.asked?, waited_until?);
        }
        let slow = self.longest.filter(|longest| longest.took >= SLOW)?;
        let seconds = slow.took.as_secs();
        let step = match protocol {
            Protocol::Tls => "the client's hello of TLS",
            _ => slow.step?,
        };
        Some(Seen {
            kind: EventKind::SlowLogin,
            from: Side::Broker,
            code: None,
            text: format!("no answer to {step} for {seconds} s or more"),
            time: slow.asked,
            packet: None,
        })
    }
}
