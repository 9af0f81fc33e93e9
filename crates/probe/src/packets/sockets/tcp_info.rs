//! The kernel's figures of a TCP connection (`struct tcp_info` of `<linux/tcp.h>`). The structure has grown at its end
//! with almost every release of the kernel, and the kernel says how much of it there is. A field that is not there is
//! `None`: 0 would be a figure.

use std::time::Duration;

/// Figures of a connection, seen from its socket: "sent" is what this socket sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpInfo {
    /// Bits by which windows of the peer are shifted; known also when a capture has not seen the SYN.
    pub send_window_scale: Option<u8>,
    /// Bits by which own windows are shifted.
    pub receive_window_scale: Option<u8>,
    /// Time after which an unacknowledged segment is sent again.
    pub retransmission_timeout: Option<Duration>,
    /// The largest payload of a segment that is sent, in bytes.
    pub send_segment_size: Option<u32>,
    /// The payload of the peer's segments as it is estimated, in bytes.
    pub receive_segment_size: Option<u32>,
    /// Segments that are sent and not acknowledged.
    pub unacknowledged: Option<u32>,
    /// Segments of these that are taken for lost.
    pub lost: Option<u32>,
    /// Segments of these that were sent again.
    pub retransmitting: Option<u32>,
    /// Smoothed round trip.
    pub round_trip: Option<Duration>,
    /// Its mean deviation.
    pub round_trip_deviation: Option<Duration>,
    /// The smallest round trip of the last minutes; none before the first.
    pub smallest_round_trip: Option<Duration>,
    /// Segments that may be under way at once.
    pub congestion_window: Option<u32>,
    /// Room that the receive buffer is tuned for, in bytes.
    pub receive_space_bytes: Option<u32>,
    /// Segments sent again since the connection began.
    pub retransmitted_segments: Option<u32>,
    /// Bytes that the peer has acknowledged.
    pub acknowledged_bytes: Option<u64>,
    /// Bytes received in order.
    pub received_bytes: Option<u64>,
    /// Bytes sent, those sent again included.
    pub sent_bytes: Option<u64>,
    /// Bytes sent again.
    pub retransmitted_bytes: Option<u64>,
    /// Segments sent, without data too.
    pub segments_out: Option<u32>,
    /// Segments received, without data too.
    pub segments_in: Option<u32>,
    /// Segments with data sent.
    pub data_segments_out: Option<u32>,
    /// Segments with data received.
    pub data_segments_in: Option<u32>,
    /// Bytes that were written and not sent yet.
    pub unsent_bytes: Option<u32>,
    /// Bytes a second of the last round trips.
    pub delivery_rate: Option<u64>,
    /// Time in which there was something to send or to be acknowledged.
    pub busy: Option<Duration>,
    /// The part of it in which the peer's window was full.
    pub receiver_limited: Option<Duration>,
    /// The part of it in which the send buffer was full.
    pub send_buffer_limited: Option<Duration>,
    /// The peer's window, in bytes (Linux 5.4).
    pub send_window: Option<u32>,
    /// The own window that was offered last, in bytes (Linux 6.2).
    pub receive_window: Option<u32>,
}

/// The smallest round trip before there was one.
const NO_ROUND_TRIP: u32 = u32::MAX;

impl TcpInfo {
    /// Reads as much as there is.
    pub(super) fn read(bytes: &[u8]) -> Self {
        let u32_at = |at: usize| Some(u32::from_ne_bytes(*bytes.get(at..)?.first_chunk()?));
        let u64_at = |at: usize| Some(u64::from_ne_bytes(*bytes.get(at..)?.first_chunk()?));
        let micros_at = |at: usize| Some(Duration::from_micros(u32_at(at)?.into()));
        let long_micros_at = |at: usize| Some(Duration::from_micros(u64_at(at)?));
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
                .filter(|&it| it != Duration::from_micros(NO_ROUND_TRIP.into())),
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

/// The first bit field of a byte in C, as compilers for this machine lay it out.
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

    /// Each byte is its own place.
    fn counting(length: u8) -> Vec<u8> {
        (0..length).collect()
    }

    #[test]
    fn every_field_has_its_place() {
        let info = TcpInfo::read(&counting(248));
        assert_eq!(info.receive_window, Some(u32::from_ne_bytes([232, 233, 234, 235])));
        assert_eq!(
            info.busy.map(|it| it.as_micros()),
            Some(u64::from_ne_bytes([168, 169, 170, 171, 172, 173, 174, 175]).into())
        );
        assert_eq!(info.data_segments_out, Some(u32::from_ne_bytes([156, 157, 158, 159])));
        assert_eq!((info.send_window_scale, info.receive_window_scale), (Some(6), Some(0)));
    }

    #[test]
    fn what_a_kernel_does_not_say_is_none() {
        // As long as in Linux 4.9, 4.18 and 5.15.
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
