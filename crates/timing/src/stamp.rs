//! The stamp in the first bytes of a body: run, send time, lateness, publisher and sequence number.
//!
//! A stamp has 96 bits: a tag of the run (12), the send time in units of 16 ns (40), the lateness of the message (16),
//! and publisher and sequence number together (28). Time and numbers wrap around. The reader of a stamp knows the
//! approximate time and number, and can therefore unwrap them.

use rabbitscope_runs::scenario::STAMP_BYTES;

use crate::clock::{Nanos, RunInstant};

/// Bytes of a stamp. A smaller body has no stamp, and its end-to-end latency is not measured.
pub const STAMP_SIZE: usize = STAMP_BYTES as usize;

/// The encoded name of a table's field under [`rabbitscope_runs::scenario::STAMP_HEADER`].
const HEADER_NAME: &[u8] = b"\x11rabbitscope-stamp";

/// Types of the field's value. RabbitMQ makes texts of bytes that came by another protocol.
const BYTES: u8 = b'x';
const TEXT: u8 = b'S';

/// Type of bytes in AMQP 1.0, whose length has one byte. The plugin of 3.x puts properties into a header as they are.
const AMQP10_BYTES: u8 = 0xa0;

const TAG_BITS: u32 = 12;

const TIME_BITS: u32 = 40;

const LATENESS_BITS: u32 = 16;

/// Time units by which the sender's clock may be ahead of the reader's: one second. Chosen: clocks of a fleet differ by
/// a millisecond or less.
const MAX_LEAD: u64 = Nanos::SECOND.get() >> TIME_SHIFT;

const NUMBER_BITS: u32 = 28;

const NUMBER_MASK: u32 = (1 << NUMBER_BITS) - 1;

/// Nanoseconds in a time unit, as a shift.
const TIME_SHIFT: u32 = 4;

/// Nanoseconds in a unit of lateness, as a shift, and the number of digits kept.
const LATENESS_SHIFT: u32 = 7;

const LATENESS_DIGITS: u32 = 11;

/// A stamp in its wire form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// Tag of the run, so that messages of other runs are not measured.
    pub run_tag: u16,
    time: u64,
    lateness: u16,
    /// Publisher and sequence number, joined by [`Numbering`].
    pub number: u32,
}

impl Stamp {
    /// Creates the stamp of a message that is sent at `sent_at`, `lateness` after its scheduled time. The lateness is
    /// absent without a schedule.
    #[inline]
    pub fn new(run_tag: u16, sent_at: RunInstant, lateness: Option<Nanos>, number: u32) -> Self {
        Self {
            run_tag: run_tag & (u16::MAX >> (16 - TAG_BITS)),
            time: sent_at.nanos() >> TIME_SHIFT & ((1 << TIME_BITS) - 1),
            lateness: lateness.map_or(0, |lateness| shorten(lateness).max(1)),
            number: number & NUMBER_MASK,
        }
    }

    /// Returns whether the stamp belongs to the run with this tag, as far as its 12 bits can tell.
    #[inline]
    pub fn is_of(self, run_tag: u16) -> bool {
        self.run_tag == run_tag & (u16::MAX >> (16 - TAG_BITS))
    }

    /// Returns the send time of a stamp that is read at `now`. It is correct up to 4.8 hours after the send time (2^40
    /// units of 16 ns). The reader's clock may be behind the sender's by at most a second.
    #[inline]
    pub fn sent_at(self, now: RunInstant) -> Option<RunInstant> {
        let now = now.nanos() >> TIME_SHIFT;
        let age = now.wrapping_sub(self.time) & ((1 << TIME_BITS) - 1);
        let lead = (1 << TIME_BITS) - age;
        let sent = if lead <= MAX_LEAD { Some(now + lead) } else { now.checked_sub(age) };
        sent.map(|sent| RunInstant::from_nanos(sent << TIME_SHIFT))
    }

    /// Returns the lateness with a precision of 0.1 %; absent without a schedule.
    #[inline]
    pub fn lateness(self) -> Option<Nanos> {
        let digits = u64::from(self.lateness) & ((1 << LATENESS_DIGITS) - 1);
        let exponent = u32::from(self.lateness) >> LATENESS_DIGITS;
        (self.lateness > 0).then(|| Nanos::new(digits << (exponent + LATENESS_SHIFT)))
    }

    /// Returns the bytes of the stamp.
    #[inline]
    pub fn encode(self) -> [u8; STAMP_SIZE] {
        let mut bits = u128::from(self.run_tag);
        bits = bits << TIME_BITS | u128::from(self.time);
        bits = bits << LATENESS_BITS | u128::from(self.lateness);
        bits = bits << NUMBER_BITS | u128::from(self.number);
        let [_, _, _, _, bytes @ ..] = bits.to_be_bytes();
        bytes
    }

    /// Finds the stamp in the header that carries it if the body must stay unchanged. The broker passes properties on
    /// unchanged, so a search for the bytes is sufficient.
    pub fn find(properties: &[u8]) -> Option<Self> {
        let name = HEADER_NAME;
        let at = properties.windows(name.len()).position(|window| window == name)?;
        let (kind, value) = properties.get(at + name.len()..)?.split_first()?;
        let (length, value) = match *kind {
            BYTES | TEXT => {
                let (length, value) = value.split_first_chunk()?;
                (u32::from_be_bytes(*length) as usize, value)
            }
            AMQP10_BYTES => {
                let (length, value) = value.split_first()?;
                (usize::from(*length), value)
            }
            _ => return None,
        };
        Self::from_property(value.get(..length)?)
    }

    /// Reads the stamp that is a property's value: its bytes, or two hexadecimal digits for each of them, as MQTT has texts
    /// only.
    #[inline]
    pub fn from_property(value: &[u8]) -> Option<Self> {
        if value.len() != 2 * STAMP_SIZE {
            return Self::decode(value);
        }
        let mut bytes = [0; STAMP_SIZE];
        for (byte, digits) in bytes.iter_mut().zip(value.chunks_exact(2)) {
            let digits = std::str::from_utf8(digits).ok()?;
            *byte = u8::from_str_radix(digits, 16).ok()?;
        }
        Self::decode(&bytes)
    }

    /// Reads the stamp at the start of a body; absent if the body is too short.
    #[inline]
    pub fn decode(body: &[u8]) -> Option<Self> {
        let mut bytes = [0; 16];
        bytes[4..].copy_from_slice(body.first_chunk::<STAMP_SIZE>()?);
        let bits = u128::from_be_bytes(bytes);
        let lateness_at = NUMBER_BITS;
        let time_at = lateness_at + LATENESS_BITS;
        Some(Self {
            run_tag: low_16(bits >> (time_at + TIME_BITS)),
            time: low_64(bits >> time_at) & ((1 << TIME_BITS) - 1),
            lateness: low_16(bits >> lateness_at),
            number: low_32(bits) & NUMBER_MASK,
        })
    }
}

/// The division of bits between publisher and sequence number. Publishers get as many bits as their number needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Numbering {
    sequence_bits: u32,
}

impl Numbering {
    /// Divides the bits of a number between `publishers` publishers and their messages.
    pub fn new(publishers: u32) -> Self {
        let needed = u32::BITS - publishers.saturating_sub(1).leading_zeros();
        Self { sequence_bits: NUMBER_BITS - needed.min(NUMBER_BITS / 2) }
    }

    /// Joins a publisher and a sequence number.
    #[inline]
    pub fn join(self, publisher: u32, sequence: u64) -> u32 {
        let sequence = sequence & ((1 << self.sequence_bits) - 1);
        publisher << self.sequence_bits | low_32(u128::from(sequence))
    }

    /// Returns the publisher and the low bits of the sequence number.
    #[inline]
    pub fn split(self, number: u32) -> (u32, u32) {
        (number >> self.sequence_bits, number & ((1 << self.sequence_bits) - 1))
    }

    /// Number of low bits of a sequence number that fit.
    pub fn sequence_bits(self) -> u32 {
        self.sequence_bits
    }
}

/// Stamps of one publisher without a schedule, which differ only in their sequence numbers. Much cheaper than each of
/// them alone.
#[derive(Clone, Copy, Debug)]
pub struct StampSeries {
    start: [u8; STAMP_SIZE - 4],
    /// The last four bytes without the sequence number.
    end: u32,
    sequence_mask: u32,
}

impl StampSeries {
    /// Creates the stamps of messages that are sent at `sent_at`.
    #[inline]
    pub fn new(run_tag: u16, sent_at: RunInstant, numbering: Numbering, publisher: u32) -> Self {
        let first = Stamp::new(run_tag, sent_at, None, numbering.join(publisher, 0));
        let [start @ .., a, b, c, d] = first.encode();
        let sequence_mask = (1 << numbering.sequence_bits) - 1;
        Self { start, end: u32::from_be_bytes([a, b, c, d]), sequence_mask }
    }

    /// Returns the bytes of the stamp with this sequence number.
    #[inline]
    pub fn encode(&self, sequence: u64) -> [u8; STAMP_SIZE] {
        let end = self.end | low_32(u128::from(sequence)) & self.sequence_mask;
        let (mut bytes, at) = ([0; STAMP_SIZE], self.start.len());
        bytes[..at].copy_from_slice(&self.start);
        bytes[at..].copy_from_slice(&end.to_be_bytes());
        bytes
    }
}

/// Returns the leading digits and the exponent of their shift.
#[inline]
fn shorten(lateness: Nanos) -> u16 {
    let units = lateness.get() >> LATENESS_SHIFT;
    let exponent = (u64::BITS - units.leading_zeros()).saturating_sub(LATENESS_DIGITS);
    let digits = low_16(u128::from(units >> exponent));
    low_16(u128::from(exponent)) << LATENESS_DIGITS | digits
}

#[expect(clippy::cast_possible_truncation, reason = "the low bits are what is asked for")]
#[inline]
fn low_16(bits: u128) -> u16 {
    bits as u16
}

#[expect(clippy::cast_possible_truncation, reason = "the low bits are what is asked for")]
#[inline]
fn low_32(bits: u128) -> u32 {
    bits as u32
}

#[expect(clippy::cast_possible_truncation, reason = "the low bits are what is asked for")]
#[inline]
fn low_64(bits: u128) -> u64 {
    bits as u64
}

/// The tag of the run for stamps. Stamps keep 12 bits of it, so that two runs share a tag by chance once in 4,096.
#[expect(clippy::cast_possible_truncation, reason = "low bits are as good as any")]
pub fn run_tag(started_unix_nanos: u64) -> u16 {
    (started_unix_nanos >> 10 ^ started_unix_nanos >> 26 ^ u64::from(std::process::id())) as u16
}

#[cfg(test)]
mod tests {
    use rabbitscope_runs::scenario::STAMP_HEADER;

    use super::*;

    const SECOND: u64 = Nanos::SECOND.get();

    fn stamp(run_tag: u16, sent: u64, lateness: Option<u64>, number: u32) -> Stamp {
        Stamp::new(run_tag, RunInstant::from_nanos(sent), lateness.map(Nanos::new), number)
    }

    #[test]
    fn stamps_are_found_in_headers() {
        assert_eq!(usize::from(HEADER_NAME[0]), STAMP_HEADER.len());
        assert_eq!(&HEADER_NAME[1..], STAMP_HEADER.as_bytes());
        let stamp = stamp(7, 99, Some(5), 2);
        let bytes = stamp.encode();
        let digits = bytes.map(|byte| format!("{byte:02x}")).concat();
        for (head, value) in [
            (&b"x\x00\x00\x00\x0c"[..], &bytes[..]),
            (b"S\x00\x00\x00\x0c", &bytes[..]),
            (b"S\x00\x00\x00\x18", digits.as_bytes()),
            (b"\xa0\x0c", &bytes[..]),
        ] {
            let properties = [b"before", HEADER_NAME, head, value, b"after"].concat();
            assert_eq!(Stamp::find(&properties), Some(stamp));
            assert_eq!(Stamp::find(&properties[..properties.len() - 6]), None);
            assert_eq!(Stamp::from_property(value), Some(stamp));
        }
        assert_eq!(Stamp::from_property(&[b'g'; 24]), None);
        assert_eq!(Stamp::find(b""), None);
    }

    #[test]
    fn stamps_read_back() {
        let stamp = stamp(0xabcd, 1_234_567_890_123, Some(77_777), 0x0fed_cba9);
        assert_eq!(Stamp::decode(&stamp.encode()), Some(stamp));
        assert_eq!(Stamp::decode(&stamp.encode()[..11]), None);
        assert!(stamp.is_of(0xabcd) && !stamp.is_of(0xabce));
    }

    #[test]
    fn stamps_of_a_series_are_those_of_their_messages() {
        for publishers in [1, 5, u32::MAX] {
            let numbering = Numbering::new(publishers);
            let (at, publisher) = (RunInstant::from_nanos(987_654_321), 4 % publishers);
            let series = StampSeries::new(0xabc, at, numbering, publisher);
            for sequence in [0, 1, 0x0fed_cba9, u64::from(u32::MAX) + 7] {
                let number = numbering.join(publisher, sequence);
                let alone = Stamp::new(0xabc, at, None, number);
                assert_eq!(series.encode(sequence), alone.encode(), "{publishers} {sequence}");
            }
        }
    }

    #[test]
    fn times_are_true_however_long_the_run() {
        fn check(sent: u64, read: u64, expected: Option<u64>) {
            let found = stamp(1, sent, None, 0).sent_at(RunInstant::from_nanos(read));
            assert_eq!(found.map(RunInstant::nanos), expected);
        }
        check(160, 1600, Some(160));
        check(175, 175, Some(160));
        let week = 7 * 24 * 3600 * SECOND;
        check(week, week + 4 * 3600 * SECOND, Some(week));
        // The sender's clock is ahead.
        check(week + SECOND / 2, week, Some(week + SECOND / 2));
        check(1600, 160, Some(1600));
        // The stamp was written later than it is read: another run wrote it.
        check(3600 * SECOND, 1600, None);
    }

    #[test]
    fn lateness_keeps_three_digits() {
        assert_eq!(stamp(1, 9, None, 0).lateness(), None);
        for late in [0, 1, 128, 5_000, 262_143, 1_000_000, 2_000_000_000, 3_600_000_000_000] {
            let kept = stamp(1, 9, Some(late), 0).lateness().unwrap().get();
            assert!(kept.abs_diff(late) <= 128.max(late / 1000), "{late} {kept}");
        }
    }

    #[test]
    fn few_publishers_leave_room_for_long_sequences() {
        fn check(publishers: u32, sequence: u64, expected: u32) {
            let numbering = Numbering::new(publishers);
            let number = numbering.join(publishers - 1, sequence);
            assert_eq!(number, expected);
            let low = low_32(u128::from(sequence & ((1 << numbering.sequence_bits()) - 1)));
            assert_eq!(numbering.split(number), (publishers - 1, low));
        }
        check(1, (1 << 28) + 5, 5);
        check(2, 5, 1 << 27 | 5);
        check(1000, 1 << 18, 999 << 18);
        check(1 << 14, 3, (1 << 28) - (1 << 14) + 3);
    }
}
