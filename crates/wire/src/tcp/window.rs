//! The windows that an end advertises.

use std::time::Duration;

use super::{figures::WindowScale, observer::ZeroWindow};
use crate::packet::Timestamp;

/// The options and sequence number of a SYN.
#[derive(Clone, Copy, Debug)]
pub(super) struct Synchronization {
    /// Its sequence number.
    pub(super) sequence: u32,
    /// The window scale that it offers.
    pub(super) window_scale: Option<u8>,
    /// The largest segment that its sender accepts.
    pub(super) max_segment_size: Option<u16>,
    /// True if it has timestamps, which take 12 bytes of every segment.
    pub(super) has_timestamps: bool,
}

/// The windows of an end.
#[derive(Debug, Default)]
pub(super) struct Window {
    pub(super) scale: WindowScale,
    /// The window in the last header, and whether the scale applies to it.
    last: Option<(u16, bool)>,
    pub(super) largest: u64,
    zero_since: Option<(Timestamp, u64)>,
    pub(super) zero_packets: u64,
    pub(super) zeros: u64,
    pub(super) zero_time: Duration,
    pub(super) longest_zero: Duration,
}

impl Window {
    /// Sets the scale of this end from both SYNs, if they were seen. A SYN without a scale disables it for both ends.
    pub(super) fn agree(&mut self, own: Option<Synchronization>, peer: Option<Synchronization>) {
        let offers = |syn: Option<Synchronization>| syn.map(|syn| syn.window_scale);
        match (offers(own), offers(peer)) {
            (Some(None), _) | (_, Some(None)) => self.scale = WindowScale::Agreed(0),
            (Some(Some(shift)), Some(Some(_))) => self.scale = WindowScale::Agreed(shift),
            _ => {}
        }
    }

    /// Returns the latest advertised window, in bytes; none before the first, and if the scale is unknown.
    pub(super) fn bytes(&self) -> Option<u64> {
        let (window, is_scaled) = self.last?;
        let shift = if is_scaled { self.scale.shift()? } else { 0 };
        Some(u64::from(window) << shift)
    }

    /// Returns whether the latest advertised window is zero.
    pub(super) const fn is_zero(&self) -> bool {
        self.zero_since.is_some()
    }

    /// Records a window. Windows of SYNs are never scaled (RFC 7323, section 2.2). Returns the zero window that this
    /// one ends.
    pub(super) fn advertised(
        &mut self,
        window: u16,
        is_syn: bool,
        time: Timestamp,
        packet: u64,
    ) -> Option<ZeroWindow> {
        self.last = Some((window, !is_syn));
        self.largest = self.largest.max(self.bytes().unwrap_or(u64::from(window)));
        if window > 0 {
            return self.zero_ended(time, Some(packet));
        }
        self.zero_packets += 1;
        self.zero_since.get_or_insert((time, packet));
        None
    }

    /// Ends a zero window, if there is one, with the packet that reopens it.
    pub(super) fn zero_ended(
        &mut self,
        end: Timestamp,
        last_packet: Option<u64>,
    ) -> Option<ZeroWindow> {
        let (start, first_packet) = self.zero_since.take()?;
        self.zeros += 1;
        self.zero_time += end.since(start);
        self.longest_zero = self.longest_zero.max(end.since(start));
        Some(ZeroWindow { first_packet, start, last_packet, end })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The scale in a SYN, if there was one.
    type Syn = Option<Option<u8>>;

    fn synchronization(syn: Syn) -> Option<Synchronization> {
        let (max_segment_size, has_timestamps) = (None, false);
        syn.map(|window_scale| Synchronization {
            sequence: 0,
            window_scale,
            max_segment_size,
            has_timestamps,
        })
    }

    #[test]
    fn a_scale_takes_two() {
        let check = |own: Syn, peer: Syn, expected| {
            let mut window = Window::default();
            window.agree(synchronization(own), synchronization(peer));
            assert_eq!(window.scale, expected);
        };
        check(None, None, WindowScale::Unknown);
        check(Some(Some(7)), None, WindowScale::Unknown);
        check(Some(Some(7)), Some(Some(2)), WindowScale::Agreed(7));
        check(Some(Some(7)), Some(None), WindowScale::Agreed(0));
        check(None, Some(None), WindowScale::Agreed(0));
    }

    #[test]
    fn windows_are_scaled_but_those_of_a_syn() {
        let mut window = Window { scale: WindowScale::Given(7), ..Window::default() };
        let mut bytes = |raw, is_syn| {
            window.advertised(raw, is_syn, Timestamp::default(), 1);
            window.bytes()
        };
        assert_eq!(bytes(1000, true), Some(1000));
        assert_eq!(bytes(10, false), Some(1280));
        assert_eq!(window.largest, 1280);
        window.scale = WindowScale::Unknown;
        assert_eq!(window.bytes(), None);
    }

    #[test]
    fn times_without_a_window_end_with_the_next_one() {
        let mut window = Window::default();
        let mut at = |millis: u64, bytes| {
            let time = Timestamp::from_unix_nanos(millis * 1_000_000);
            window.advertised(bytes, false, time, millis)
        };
        assert_eq!(at(1, 5), None);
        assert_eq!(at(2, 0), None);
        assert_eq!(at(5, 0), None);
        let zero = at(9, 1).unwrap();
        assert_eq!((zero.first_packet, zero.last_packet), (2, Some(9)));
        assert_eq!(at(10, 2), None);
        assert_eq!(at(11, 0), None);
        assert_eq!(at(12, 2).unwrap().first_packet, 11);
        assert_eq!((window.zero_packets, window.zeros), (3, 2));
        assert_eq!(window.zero_time, Duration::from_millis(8));
        assert_eq!(window.longest_zero, Duration::from_millis(7));
    }
}
