//! The kernel's figures of a TCP connection (`struct tcp_info` of `<linux/tcp.h>`). The structure grows at its end
//! with almost every release of the kernel, and the kernel reports its length. A missing field is `None`, because 0
//! would be a figure.

use std::time::Duration;

/// Figures of a connection, seen from its socket: "sent" is what this socket sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpInfo {
    /// Shift of the peer's windows in bits, known even if a capture has missed the SYN.
    pub send_window_scale: Option<u8>,
    /// Shift of the own windows in bits.
    pub receive_window_scale: Option<u8>,
    /// Time after which an unacknowledged segment is sent again.
    pub retransmission_timeout: Option<Duration>,
    /// Limit for the payload of a sent segment, in bytes.
    pub send_segment_size: Option<u32>,
    /// Estimated payload of the peer's segments, in bytes.
    pub receive_segment_size: Option<u32>,
    /// Segments sent and not acknowledged.
    pub unacknowledged: Option<u32>,
    /// Unacknowledged segments that are considered lost.
    pub lost: Option<u32>,
    /// Unacknowledged segments that were sent again.
    pub retransmitting: Option<u32>,
    /// Smoothed round trip.
    pub round_trip: Option<Duration>,
    /// Mean deviation of the round trip.
    pub round_trip_deviation: Option<Duration>,
    /// The smallest round trip of the last minutes; `None` before the first.
    pub smallest_round_trip: Option<Duration>,
    /// Limit for segments in flight.
    pub congestion_window: Option<u32>,
    /// Size in bytes to which the receive buffer is tuned.
    pub receive_space_bytes: Option<u32>,
    /// Segments sent again since the connection began.
    pub retransmitted_segments: Option<u32>,
    /// Bytes that the peer has acknowledged.
    pub acknowledged_bytes: Option<u64>,
    /// Bytes received in order.
    pub received_bytes: Option<u64>,
    /// Bytes sent, retransmitted ones included.
    pub sent_bytes: Option<u64>,
    /// Bytes sent again.
    pub retransmitted_bytes: Option<u64>,
    /// Segments sent, with and without data.
    pub segments_out: Option<u32>,
    /// Segments received, with and without data.
    pub segments_in: Option<u32>,
    /// Segments with data sent.
    pub data_segments_out: Option<u32>,
    /// Segments with data received.
    pub data_segments_in: Option<u32>,
    /// Bytes written and not sent yet.
    pub unsent_bytes: Option<u32>,
    /// Delivery rate of the last round trips, in bytes per second.
    pub delivery_rate: Option<u64>,
    /// Time with data to send or awaiting acknowledgement.
    pub busy: Option<Duration>,
    /// Part of the busy time during which the peer's window was full.
    pub receiver_limited: Option<Duration>,
    /// Part of the busy time during which the send buffer was full.
    pub send_buffer_limited: Option<Duration>,
    /// The peer's window, in bytes (Linux 5.4).
    pub send_window: Option<u32>,
    /// The own window in the last offer, in bytes (Linux 6.2).
    pub receive_window: Option<u32>,
}

/// Value of the smallest round trip before the first one.
const NO_ROUND_TRIP: u32 = u32::MAX;

impl TcpInfo {
    /// Reads all fields that `bytes` has.
    pub(super) fn read(bytes: &[u8]) -> Self {
        let u32_at = |start: usize| Some(u32::from_ne_bytes(*bytes.get(start..)?.first_chunk()?));
        let u64_at = |start: usize| Some(u64::from_ne_bytes(*bytes.get(start..)?.first_chunk()?));
        let micros_at = |start: usize| Some(Duration::from_micros(u32_at(start)?.into()));
        let long_micros_at = |start: usize| Some(Duration::from_micros(u64_at(start)?));
        let scales = bytes.get(6).copied();
        Self {
            send_window_scale: scales.map(first_bits),
            receive_window_scale: scales.map(last_bits),
            retransmission_timeout: micros_at(8),
            send_segment_size: u32_at(16),
            receive_segment_size: u32_at(20),
            unacknowledged: u32_at(24),
            lost: u32_at(32),
            retransmitting: u32_at(36),
            round_trip: micros_at(68),
            round_trip_deviation: micros_at(72),
            congestion_window: u32_at(80),
            receive_space_bytes: u32_at(96),
            retransmitted_segments: u32_at(100),
            acknowledged_bytes: u64_at(120),
            received_bytes: u64_at(128),
            segments_out: u32_at(136),
            segments_in: u32_at(140),
            unsent_bytes: u32_at(144),
            smallest_round_trip: micros_at(148)
                .filter(|&time| time != Duration::from_micros(NO_ROUND_TRIP.into())),
            data_segments_in: u32_at(152),
            data_segments_out: u32_at(156),
            delivery_rate: u64_at(160),
            busy: long_micros_at(168),
            receiver_limited: long_micros_at(176),
            send_buffer_limited: long_micros_at(184),
            sent_bytes: u64_at(200),
            retransmitted_bytes: u64_at(208),
            send_window: u32_at(228),
            receive_window: u32_at(232),
        }
    }
}

/// The first bit field of a byte in C, in the layout of compilers for this machine.
const fn first_bits(byte: u8) -> u8 {
    if cfg!(target_endian = "little") { byte & 0xf } else { byte >> 4 }
}

const fn last_bits(byte: u8) -> u8 {
    if cfg!(target_endian = "little") { byte >> 4 } else { byte & 0xf }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::TcpInfo;

    /// Bytes with their index as value.
    fn counting(length: u8) -> Vec<u8> {
        (0..length).collect()
    }

    #[test]
    fn every_field_has_its_place() {
        let info = TcpInfo::read(&counting(248));
        assert_eq!(info.receive_window, Some(u32::from_ne_bytes([232, 233, 234, 235])));
        assert_eq!(
            info.busy.map(|time| time.as_micros()),
            Some(u64::from_ne_bytes([168, 169, 170, 171, 172, 173, 174, 175]).into())
        );
        assert_eq!(info.data_segments_out, Some(u32::from_ne_bytes([156, 157, 158, 159])));
        assert_eq!((info.send_window_scale, info.receive_window_scale), (Some(6), Some(0)));
    }

    #[test]
    fn figures_missing_in_a_kernel_are_none() {
        // Lengths of the structure in Linux 4.9, 4.18 and 5.15.
        let check = |length, busy: bool, sent: bool, window: bool| {
            let info = TcpInfo::read(&counting(length));
            let found =
                (info.busy.is_some(), info.sent_bytes.is_some(), info.send_window.is_some());
            assert_eq!(found, (busy, sent, window), "{length}");
        };
        check(168, false, false, false);
        check(192, true, false, false);
        check(224, true, true, false);
        check(232, true, true, true);
        assert_eq!(TcpInfo::read(&[]), TcpInfo::default());
        assert_eq!(TcpInfo::read(&counting(7)).retransmission_timeout, None);
    }

    #[test]
    fn no_round_trip_is_no_time() {
        let mut bytes = vec![0; 232];
        bytes[148..152].copy_from_slice(&u32::MAX.to_ne_bytes());
        assert_eq!(TcpInfo::read(&bytes).smallest_round_trip, None);
        bytes[148..152].copy_from_slice(&17_u32.to_ne_bytes());
        let found = TcpInfo::read(&bytes).smallest_round_trip;
        assert_eq!(found, Some(Duration::from_micros(17)));
    }
}
