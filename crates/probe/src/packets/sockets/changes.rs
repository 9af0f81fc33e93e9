//! Progress of a connection between two dumps.

use std::time::Duration;

use super::{socket::TcpSocket, tcp_info::TcpInfo};

/// A connection with its progress since the sample before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SocketChange {
    /// Present state of the connection.
    pub socket: TcpSocket,
    /// True if the connection is newer than the sample before, so that its progress covers its whole life.
    pub is_new: bool,
    /// Progress since the sample before.
    pub progress: TcpProgress,
}

/// Progress of one connection or the sum of several. A figure that the kernel lacks is `None`.
///
/// The kernel's sender is idle or busy at each instant. A busy sender is limited by the receiver, by the send
/// buffer, or by the network (congestion window, pacing, the path). The times are in the kernel's ticks, 1 to 10 ms
/// long.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpProgress {
    /// Time with data to send or awaiting acknowledgement.
    pub busy: Option<Duration>,
    /// Part of the busy time during which the peer's window was full.
    pub receiver_limited: Option<Duration>,
    /// Part of the busy time during which the send buffer was full.
    pub send_buffer_limited: Option<Duration>,
    /// Bytes sent, retransmitted ones included.
    pub sent_bytes: Option<u64>,
    /// Bytes sent again.
    pub retransmitted_bytes: Option<u64>,
    /// Bytes that the peer has acknowledged.
    pub acknowledged_bytes: Option<u64>,
    /// Bytes received in order.
    pub received_bytes: Option<u64>,
    /// Segments sent, with and without data.
    pub segments_out: Option<u64>,
    /// Segments received, with and without data.
    pub segments_in: Option<u64>,
    /// Segments with data sent.
    pub data_segments_out: Option<u64>,
    /// Segments with data received.
    pub data_segments_in: Option<u64>,
    /// Segments sent again.
    pub retransmitted_segments: Option<u64>,
}

impl TcpProgress {
    /// Difference between two figures of a connection. A new connection had none before.
    pub(super) fn between(before: &TcpInfo, now: &TcpInfo) -> Self {
        Self {
            busy: time(before.busy, now.busy),
            receiver_limited: time(before.receiver_limited, now.receiver_limited),
            send_buffer_limited: time(before.send_buffer_limited, now.send_buffer_limited),
            sent_bytes: bytes(before.sent_bytes, now.sent_bytes),
            retransmitted_bytes: bytes(before.retransmitted_bytes, now.retransmitted_bytes),
            acknowledged_bytes: bytes(before.acknowledged_bytes, now.acknowledged_bytes),
            received_bytes: bytes(before.received_bytes, now.received_bytes),
            segments_out: count(before.segments_out, now.segments_out),
            segments_in: count(before.segments_in, now.segments_in),
            data_segments_out: count(before.data_segments_out, now.data_segments_out),
            data_segments_in: count(before.data_segments_in, now.data_segments_in),
            retransmitted_segments: count(
                before.retransmitted_segments,
                now.retransmitted_segments,
            ),
        }
    }

    /// Adds the progress of another connection.
    pub fn add(&mut self, other: &Self) {
        add(&mut self.busy, other.busy);
        add(&mut self.receiver_limited, other.receiver_limited);
        add(&mut self.send_buffer_limited, other.send_buffer_limited);
        add(&mut self.sent_bytes, other.sent_bytes);
        add(&mut self.retransmitted_bytes, other.retransmitted_bytes);
        add(&mut self.acknowledged_bytes, other.acknowledged_bytes);
        add(&mut self.received_bytes, other.received_bytes);
        add(&mut self.segments_out, other.segments_out);
        add(&mut self.segments_in, other.segments_in);
        add(&mut self.data_segments_out, other.data_segments_out);
        add(&mut self.data_segments_in, other.data_segments_in);
        add(&mut self.retransmitted_segments, other.retransmitted_segments);
    }

    /// Share of the busy time limited by the receiver, from 0 to 1. `None` if the sender was never busy.
    pub fn receiver_limited_share(&self) -> Option<f64> {
        time_share(self.receiver_limited, self.busy)
    }

    /// Share of the busy time limited by the send buffer, from 0 to 1.
    pub fn send_buffer_limited_share(&self) -> Option<f64> {
        time_share(self.send_buffer_limited, self.busy)
    }

    /// Mean payload of sent segments with data, in bytes. The interface may have split a segment into packets.
    pub fn mean_segment_sent(&self) -> Option<f64> {
        mean(self.sent_bytes, self.data_segments_out)
    }

    /// Mean payload of received segments with data, in bytes.
    pub fn mean_segment_received(&self) -> Option<f64> {
        mean(self.received_bytes, self.data_segments_in)
    }

    /// Share of retransmitted segments in those with data, from 0 to 1.
    pub fn retransmitted_share(&self) -> Option<f64> {
        mean(self.retransmitted_segments, self.data_segments_out)
    }
}

fn time(before: Option<Duration>, now: Option<Duration>) -> Option<Duration> {
    Some(now?.saturating_sub(before.unwrap_or_default()))
}

fn bytes(before: Option<u64>, now: Option<u64>) -> Option<u64> {
    Some(now?.saturating_sub(before.unwrap_or_default()))
}

/// Difference of two counts. The kernel counts segments in 32 bits, which wrap.
fn count(before: Option<u32>, now: Option<u32>) -> Option<u64> {
    Some(now?.wrapping_sub(before.unwrap_or_default()).into())
}

fn add<T: std::ops::Add<Output = T>>(sum: &mut Option<T>, more: Option<T>) {
    *sum = match (sum.take(), more) {
        (Some(sum), Some(more)) => Some(sum + more),
        (one, other) => one.or(other),
    };
}

fn time_share(part: Option<Duration>, whole: Option<Duration>) -> Option<f64> {
    let whole = whole.filter(|whole| !whole.is_zero())?;
    Some(part?.div_duration_f64(whole))
}

fn mean(sum: Option<u64>, count: Option<u64>) -> Option<f64> {
    let count = count.filter(|&count| count > 0)?;
    Some(sum? as f64 / count as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn info(busy_millis: u64, sent: u64, segments: u32) -> TcpInfo {
        TcpInfo {
            busy: Some(Duration::from_millis(busy_millis)),
            receiver_limited: Some(Duration::from_millis(busy_millis / 4)),
            sent_bytes: Some(sent),
            data_segments_out: Some(segments),
            ..TcpInfo::default()
        }
    }

    #[test]
    fn differences_and_shares() {
        let progress = TcpProgress::between(&info(40, 1000, 3), &info(120, 9000, 7));
        assert_eq!(progress.busy, Some(Duration::from_millis(80)));
        assert_eq!(progress.receiver_limited_share(), Some(0.25));
        assert_eq!(progress.mean_segment_sent(), Some(2000.0));
        assert_eq!(progress.send_buffer_limited_share(), None);
        assert_eq!(progress.received_bytes, None);
    }

    #[test]
    fn counters_of_32_bits_begin_again() {
        let progress = TcpProgress::between(&info(0, 0, u32::MAX), &info(0, 0, 1));
        assert_eq!(progress.data_segments_out, Some(2));
        assert_eq!(progress.receiver_limited_share(), None, "it was never busy");
    }

    #[test]
    fn sums_leave_out_unknown_figures() {
        let mut sum = TcpProgress::default();
        sum.add(&TcpProgress::between(&TcpInfo::default(), &info(40, 1000, 2)));
        sum.add(&TcpProgress::between(&TcpInfo::default(), &info(40, 3000, 2)));
        assert_eq!((sum.sent_bytes, sum.mean_segment_sent()), (Some(4000), Some(1000.0)));
        assert_eq!(sum.segments_in, None);
    }
}
