//! Times of a sample's weight, in few bytes for each step of time with weight.

/// Weight by step of time. The capture has the length of a step ([`time_step_nanos`](super::Capture::time_step_nanos));
/// steps count from the start of the recording.
///
/// Stored as pairs of variable-length numbers (LEB128): steps since the previous pair, and weight.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Times {
    bytes: Bytes,
    /// Step of the last pair.
    last: u32,
}

/// Storage that holds a few bytes inline, because most samples occurred once or twice.
#[derive(Clone, Debug)]
enum Bytes {
    Few { bytes: [u8; FEW_BYTES], length: u8 },
    Many(Vec<u8>),
}

/// Number of inline bytes, which fit into an enum whose other variant is a vector.
const FEW_BYTES: usize = 15;

impl Default for Bytes {
    fn default() -> Self {
        Self::Few { bytes: [0; FEW_BYTES], length: 0 }
    }
}

impl PartialEq for Bytes {
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}

impl Eq for Bytes {}

impl Bytes {
    fn get(&self) -> &[u8] {
        match self {
            Self::Few { bytes, length } => &bytes[..usize::from(*length)],
            Self::Many(bytes) => bytes,
        }
    }

    fn push(&mut self, byte: u8) {
        match self {
            Self::Few { bytes, length } if usize::from(*length) < FEW_BYTES => {
                bytes[usize::from(*length)] = byte;
                *length += 1;
            }
            Self::Few { bytes, .. } => {
                let mut many = Vec::with_capacity(2 * FEW_BYTES);
                many.extend_from_slice(bytes);
                many.push(byte);
                *self = Self::Many(many);
            }
            Self::Many(bytes) => bytes.push(byte),
        }
    }
}

impl Times {
    /// Adds weight. Steps must not decrease; an earlier step counts as the last one.
    pub fn add(&mut self, step: u32, weight: u64) {
        put(&mut self.bytes, u64::from(step.saturating_sub(self.last)));
        put(&mut self.bytes, weight);
        self.last = self.last.max(step);
    }

    /// Reads bytes from [`Self::bytes`]; `None` if they are malformed.
    pub fn from_bytes(bytes: Vec<u8>) -> Option<Self> {
        let mut rest = bytes.as_slice();
        let mut step = 0_u64;
        while !rest.is_empty() {
            step = step.checked_add(take(&mut rest)?)?;
            take(&mut rest)?;
        }
        Some(Self { last: u32::try_from(step).ok()?, bytes: Bytes::Many(bytes) })
    }

    /// The pairs in their stored form.
    pub fn bytes(&self) -> &[u8] {
        self.bytes.get()
    }

    /// Steps in order with their weights; a step may occur several times.
    pub fn iter(&self) -> impl Iterator<Item = (u32, u64)> {
        let mut rest = self.bytes();
        let mut step = 0_u32;
        std::iter::from_fn(move || {
            let later = u32::try_from(take(&mut rest)?).ok()?;
            step = step.saturating_add(later);
            Some((step, take(&mut rest)?))
        })
    }

    /// Adds the weights of another recording of the same time. Those that are later cost no more than their own length.
    pub(super) fn add_all(&mut self, other: &Self) {
        let is_later = other.iter().next().is_none_or(|(step, _)| step >= self.last);
        if is_later {
            other.iter().for_each(|(step, weight)| self.add(step, weight));
        } else {
            *self = self.merged(other);
        }
    }

    /// Returns the same weights from `start_nanos` on, in steps of another length: `recorded` nanoseconds here, `wanted`
    /// there.
    pub(super) fn placed(&self, start_nanos: u64, recorded: u64, wanted: u64) -> Self {
        let place = |step: u32| {
            // The middle of a step, as clocks are exact to some microseconds.
            let since = u64::from(step).saturating_mul(recorded).saturating_add(recorded / 2);
            let at = start_nanos.saturating_add(since) / wanted.max(1);
            u32::try_from(at).unwrap_or(u32::MAX)
        };
        Self::joined(self.iter().map(|(step, weight)| (place(step), weight)))
    }

    /// Adds up the weights of equal steps. The steps ascend.
    fn joined(pairs: impl Iterator<Item = (u32, u64)>) -> Self {
        let mut joined = Self::default();
        let mut last: Option<(u32, u64)> = None;
        for (step, weight) in pairs {
            match &mut last {
                Some((same, sum)) if *same == step => *sum = sum.saturating_add(weight),
                _ => {
                    if let Some((step, sum)) = last.replace((step, weight)) {
                        joined.add(step, sum);
                    }
                }
            }
        }
        if let Some((step, sum)) = last {
            joined.add(step, sum);
        }
        joined
    }

    /// The sum of both.
    #[must_use]
    pub fn merged(&self, other: &Self) -> Self {
        let mut pairs: Vec<(u32, u64)> = self.iter().chain(other.iter()).collect();
        pairs.sort_unstable();
        Self::joined(pairs.into_iter())
    }

    /// True when no time was recorded.
    pub fn is_empty(&self) -> bool {
        self.bytes().is_empty()
    }
}

fn put(bytes: &mut Bytes, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number.to_le_bytes()[0] | 0x80);
        number >>= 7;
    }
    bytes.push(number.to_le_bytes()[0]);
}

fn take(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0_u64;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(pairs: &[(u32, u64)], bytes: usize) {
        let mut times = Times::default();
        for &(step, weight) in pairs {
            times.add(step, weight);
        }
        assert_eq!(times.iter().collect::<Vec<_>>(), pairs);
        assert_eq!(times.bytes().len(), bytes);
        assert_eq!(Times::from_bytes(times.bytes().to_vec()), Some(times));
    }

    #[test]
    fn what_was_added_is_there() {
        check(&[], 0);
        check(&[(0, 1), (0, 2), (7, 1), (7000, u64::MAX)], 6 + 2 + 10);
        for count in 1..=30 {
            let pairs: Vec<(u32, u64)> = (0..count).map(|step| (step, 1)).collect();
            check(&pairs, 2 * pairs.len());
        }
        assert_eq!(size_of::<Bytes>(), size_of::<Vec<u8>>());
    }

    #[test]
    fn what_comes_late_counts_for_the_last_step() {
        let mut times = Times::default();
        times.add(5, 1);
        times.add(3, 2);
        assert_eq!(times.iter().collect::<Vec<_>>(), [(5, 1), (5, 2)]);
    }

    #[test]
    fn sums_are_in_order() {
        fn check(one: &[(u32, u64)], other: &[(u32, u64)], expected: &[(u32, u64)]) {
            let times = |pairs: &[(u32, u64)]| {
                let mut times = Times::default();
                for &(step, weight) in pairs {
                    times.add(step, weight);
                }
                times
            };
            let mut sum = times(one);
            sum.add_all(&times(other));
            assert_eq!(sum.iter().collect::<Vec<_>>(), expected);
        }
        check(&[], &[(3, 1)], &[(3, 1)]);
        check(&[(3, 1)], &[], &[(3, 1)]);
        check(&[(3, 1)], &[(3, 2), (9, 1)], &[(3, 1), (3, 2), (9, 1)]);
        check(&[(3, 1), (9, 1)], &[(1, 5)], &[(1, 5), (3, 1), (9, 1)]);
    }

    #[test]
    fn damage_is_noticed() {
        assert_eq!(Times::from_bytes(vec![0x80]), None);
        assert_eq!(Times::from_bytes(vec![1]), None);
        assert_eq!(Times::from_bytes(vec![0xff; 20]), None);
        assert_eq!(Times::from_bytes([vec![0xff; 9], vec![1, 1]].concat()), None);
    }
}
