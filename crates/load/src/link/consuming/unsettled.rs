//! Messages that are processed but not settled, where the latency of settling is recorded separately.

use rabbitscope_runs::record::Latency;

use crate::link::serve_context::{Sending, ServeContext};

/// Sending times of messages and the slots of their latencies, by channel number. Empty if settling is not recorded
/// separately, so that no message is kept.
#[derive(Debug, Default)]
pub(in crate::link) struct Unsettled(Vec<Vec<(Sending, u16)>>);

impl Unsettled {
    pub(in crate::link) fn new(is_recorded: bool, channels: usize) -> Self {
        Self(vec![Vec::new(); if is_recorded { channels } else { 0 }])
    }

    #[inline]
    pub(in crate::link) fn note(&mut self, channel: u16, sending: Sending, slot: u16) {
        if let Some(messages) = self.0.get_mut(usize::from(channel)) {
            messages.push((sending, slot));
        }
    }

    /// Records that the messages of a channel are settled now.
    #[inline]
    pub(in crate::link) fn settle(&mut self, channel: u16, context: &mut ServeContext<'_>) {
        let Some(messages) = self.0.get_mut(usize::from(channel)) else { return };
        let now = context.now;
        for (sending, slot) in messages.drain(..) {
            context.measured.slots.select(slot);
            context.reached([Latency::Settled, Latency::SettledIntended], sending, now);
        }
    }

    /// Drops all messages of a lost connection, because the broker redelivers them.
    pub(in crate::link) fn drop_all(&mut self) {
        self.0.iter_mut().for_each(Vec::clear);
    }
}
