//! Another size of the load: other rates, fewer connections.
//!
//! Fewer clients with unchanged behaviour distort the load least, so members keep their rates where they are divided.
//! Other rates change the distances of messages: timers get another interval, independent messages are thinned, and
//! bursts get another number of messages at the same period.

use super::{loops::Arrival, publishers::PublisherGroup, readers::ReaderGroup};

/// Factors of the load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    /// Factor of the rate of each open loop.
    pub rates: f64,
    /// Factor of the number of connections and of the clients on them, 1 at most.
    pub connections: f64,
}

impl Scale {
    /// Returns whether the load keeps its size.
    pub fn is_none(self) -> bool {
        !is_changed(self.rates) && !is_changed(self.connections)
    }
}

/// Returns whether a factor changes anything.
pub(crate) fn is_changed(factor: f64) -> bool {
    (factor - 1.0).abs() > 1e-9
}

impl Default for Scale {
    fn default() -> Self {
        Self { rates: 1.0, connections: 1.0 }
    }
}

impl PublisherGroup {
    /// Changes the size of the group.
    pub(super) fn scale(&mut self, scale: Scale) {
        self.divide(scale.connections);
        self.change_rate(scale.rates);
    }

    /// Keeps a share of the members, one at least. A remaining member's rate makes up for parts of members.
    fn divide(&mut self, share: f64) {
        let wanted = self.count as f64 * share;
        self.count = part(self.count, share);
        self.connections = part(self.connections, share).min(self.count);
        self.change_rate(wanted / self.count as f64);
    }

    /// A closed loop cannot be made faster, but has an upper limit if it shall be slower.
    fn change_rate(&mut self, factor: f64) {
        self.rate *= factor;
        if self.looped.is_closed && factor < 1.0 {
            self.rate_limit = Some(self.rate);
        }
        if let Arrival::Bursts { messages, period } = &mut self.arrival {
            let wanted = f64::from(*messages) * factor;
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
            let whole = wanted.round().clamp(1.0, 1e9) as u32;
            *messages = whole;
            *period *= f64::from(whole) / wanted;
        }
    }
}

impl ReaderGroup {
    /// Changes the size of the group.
    pub(super) fn scale(&mut self, scale: Scale) {
        self.divide(scale.connections);
        self.polling = self.polling.map(|(nanos, empty)| (nanos / scale.rates, empty));
    }

    /// Keeps a share of the members, one for each queue at least, so that no queue is without a reader.
    fn divide(&mut self, share: f64) {
        let least = self.queues.len().min(self.count);
        self.connections = part(self.connections, share);
        self.count = part(self.count, share).max(least).max(self.connections);
        self.channels = self.channels.max(self.count.div_ceil(self.connections));
    }
}

/// Returns a share of members, one at least.
fn part(count: usize, share: f64) -> usize {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "not negative")]
    let part = (count as f64 * share).round() as usize;
    part.clamp(1, count.max(1))
}
