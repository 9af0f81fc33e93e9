//! Requests with answers: synchronous methods, commands with a correlation, packets with an identifier.

use std::collections::VecDeque;

use super::latency::{Ending, Latency, Mark, index};
use crate::{
    protocols::peer_of,
    report::{Side, Unmatched},
};

/// Maximum of requests of a connection that are kept at once.
const OPEN_MAX: usize = 4096;

#[derive(Clone, Copy, Debug)]
struct Request {
    sender: Side,
    kind: &'static str,
    number: u32,
    mark: Mark,
}

/// Unanswered requests of a connection. Answers usually come in the order of the requests.
#[derive(Clone, Debug, Default)]
pub(super) struct Requests {
    open: VecDeque<Request>,
    /// Sides whose answers cannot be read.
    lost: [bool; 2],
    unmatched: Unmatched,
}

impl Requests {
    /// Records a request. `number` distinguishes requests of the same kind: a channel, a correlation, an identifier.
    pub(super) fn open(&mut self, sender: Side, kind: &'static str, number: u32, mark: Mark) {
        if self.lost[index(peer_of(sender))] {
            self.unmatched.open += 1;
            return;
        }
        if self.open.len() >= OPEN_MAX {
            self.open.pop_front();
            self.unmatched.left_out += 1;
        }
        self.open.push_back(Request { sender, kind, number, mark });
    }

    /// Records that `sender` answers a request.
    pub(super) fn answer(
        &mut self,
        sender: Side,
        (kind, number): (&str, u32),
        ending: &Ending,
        sink: &mut impl FnMut(&Latency),
    ) {
        let is_answered = |request: &Request| {
            request.number == number && request.sender != sender && request.kind == kind
        };
        match self.open.iter().position(is_answered).and_then(|index| self.open.remove(index)) {
            Some(request) => sink(&ending.since(request.mark)),
            None => self.unmatched.unknown_begin += 1,
        }
    }

    /// Records that the frames of `sender` cannot be read.
    pub(super) fn lose(&mut self, sender: Side) {
        self.lost[index(sender)] = true;
        let before = self.open.len();
        self.open.retain(|request| request.sender == sender);
        self.unmatched.open += (before - self.open.len()) as u64;
    }

    /// Records that the frames of `sender` can be read again.
    pub(super) fn find(&mut self, sender: Side) {
        self.lost[index(sender)] = false;
    }

    pub(super) fn unmatched(&self) -> Unmatched {
        Unmatched { open: self.unmatched.open + self.open.len() as u64, ..self.unmatched }
    }
}
