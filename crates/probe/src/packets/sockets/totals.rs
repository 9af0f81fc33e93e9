//! Sums over all connections of a sample.

use std::time::Duration;

use super::changes::{SocketChange, TcpProgress};

/// Sums over all connections of a sample.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SocketTotals {
    /// Present connections.
    pub sockets: usize,
    /// Connections made since the sample before.
    pub new: usize,
    /// Connections gone since the sample before. Their progress after it is unknown.
    pub gone: usize,
    /// Progress of all connections since the sample before.
    pub progress: TcpProgress,
    /// The smallest round trip of any connection.
    pub smallest_round_trip: Option<Duration>,
    /// Bytes written and not sent yet.
    pub unsent_bytes: u64,
    /// Bytes written and not acknowledged.
    pub send_queue: u64,
    /// Bytes received and not read.
    pub receive_queue: u64,
}

impl SocketTotals {
    pub(super) fn from_changes(changes: &[SocketChange], gone: usize) -> Self {
        let mut totals = Self { sockets: changes.len(), gone, ..Self::default() };
        for SocketChange { socket, is_new, progress } in changes {
            totals.new += usize::from(*is_new);
            totals.progress.add(progress);
            totals.unsent_bytes += u64::from(socket.info.unsent_bytes.unwrap_or(0));
            totals.send_queue += u64::from(socket.send_queue);
            totals.receive_queue += u64::from(socket.receive_queue);
            let both = [totals.smallest_round_trip, socket.info.smallest_round_trip];
            totals.smallest_round_trip = both.into_iter().flatten().min();
        }
        totals
    }

    /// Share of the time during which the senders were busy, from 0 to 1, in a sample of `elapsed`. `None` without
    /// connections.
    pub fn busy_share(&self, elapsed: Duration) -> Option<f64> {
        let whole = elapsed.as_secs_f64() * self.sockets as f64;
        let share = self.progress.busy?.as_secs_f64() / whole;
        // Ticks end a little before or after the sample.
        share.is_finite().then_some(share.min(1.0))
    }
}
