//! Requests and replies of AMQP 0-9-1. A request has a reply-to address and a correlation id; its reply goes to that
//! address with that id.
//!
//! They may go over different connections, so all connections of a broker share one [`Replies`]. With RabbitMQ's direct
//! reply-to the address is the same for all: such a reply comes over the channel of its request.

use std::collections::{HashMap, VecDeque};

use super::latency::{Ending, Latency, Mark};
use crate::report::Unmatched;

/// Maximum of requests that are kept at once.
const OPEN_MAX: usize = 65_536;

/// The properties that a reply shares with its request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct ReplyKey {
    /// Hash of the address.
    pub(super) address: u64,
    /// Hash of the correlation id.
    pub(super) correlation_id: u64,
    /// Connection and channel, for direct reply-to.
    pub(super) place: Option<(u64, u16)>,
    /// True if the client at this end answers the request. Otherwise it made the request.
    pub(super) is_answering: bool,
}

/// Unanswered requests of all connections of a broker.
#[derive(Clone, Debug, Default)]
pub struct Replies {
    open: HashMap<ReplyKey, Mark>,
    /// Keys in order of arrival. Keys of answered requests stay for a while.
    order: VecDeque<ReplyKey>,
    unmatched: Unmatched,
}

impl Replies {
    pub(super) fn request(&mut self, key: ReplyKey, mark: Mark) {
        if self.open.insert(key, mark).is_some() {
            self.unmatched.left_out += 1;
            return;
        }
        self.order.push_back(key);
        if self.open.len() > OPEN_MAX {
            self.drop_oldest();
        }
        // Drops the keys of answered requests: the queue holds at most twice as many keys as there may be open
        // requests.
        if self.order.len() > 2 * OPEN_MAX {
            let open = &self.open;
            self.order.retain(|key| open.contains_key(key));
        }
    }

    fn drop_oldest(&mut self) {
        while let Some(oldest) = self.order.pop_front() {
            if self.open.remove(&oldest).is_some() {
                self.unmatched.left_out += 1;
                return;
            }
        }
    }

    /// Processes a message that may be a reply; most messages are none.
    pub(super) fn reply(
        &mut self,
        key: &ReplyKey,
        ending: &Ending,
        sink: &mut impl FnMut(&Latency),
    ) {
        if let Some(mark) = self.open.remove(key) {
            sink(&ending.since(mark));
        }
    }

    /// Returns the unanswered requests, and the dropped ones.
    pub fn unmatched(&self) -> Unmatched {
        Unmatched { open: self.open.len() as u64, ..self.unmatched }
    }
}
