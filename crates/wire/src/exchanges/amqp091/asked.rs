//! Requests of a channel that are matched to their answers only by order.

use std::collections::VecDeque;

/// Maximum of requests that are kept.
const ASKED_MAX: usize = 256;

/// Unanswered requests for consumers or for single messages: for each, whether it needs no acknowledgements.
///
/// In a capture that begins in the middle of a connection, a single frame proves nothing. So the first request may be
/// read after its answer; the numbers of packets then show their order.
#[derive(Clone, Debug, Default)]
pub(super) struct Asked {
    auto_acks: VecDeque<bool>,
    /// Packet of the last answer whose request was not seen.
    unasked_packet: u64,
}

impl Asked {
    pub(super) fn ask(&mut self, auto_ack: bool, packet: u64) {
        if packet >= self.unasked_packet && self.auto_acks.len() < ASKED_MAX {
            self.auto_acks.push_back(auto_ack);
        }
    }

    /// Returns the flag of the request that this packet answers; none if the request was not seen.
    pub(super) fn answer(&mut self, packet: u64) -> Option<bool> {
        let auto_ack = self.auto_acks.pop_front();
        if auto_ack.is_none() {
            self.unasked_packet = packet;
        }
        auto_ack
    }

    pub(super) fn forget(&mut self) {
        self.auto_acks.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_that_is_read_after_its_answer_waits_for_none() {
        let mut asked = Asked::default();
        assert_eq!(asked.answer(5), None);
        asked.ask(true, 4);
        asked.ask(false, 6);
        assert_eq!((asked.answer(7), asked.answer(8)), (Some(false), None));
    }
}
