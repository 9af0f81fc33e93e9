//! Payloads of segments by size, for their median.

/// Size below which sizes are exact. Above it, a class is a sixteenth of a power of two. All classes take 3.5 KB,
/// because there may be thousands of connections.
const EXACT: u32 = 512;
const CLASSES: usize = EXACT as usize + 16 * 23;

/// Numbers of segments by size of their payload.
#[derive(Clone, Debug)]
pub(super) struct Payloads {
    counts: Box<[u32; CLASSES]>,
    all: u64,
}

impl Default for Payloads {
    fn default() -> Self {
        Self { counts: Box::new([0; CLASSES]), all: 0 }
    }
}

impl Payloads {
    pub(super) fn add(&mut self, bytes: u32) {
        let count = &mut self.counts[class(bytes)];
        *count = count.saturating_add(1);
        self.all += 1;
    }

    /// Returns the median size; 0 without segments.
    pub(super) fn median(&self) -> u64 {
        let mut left = self.all.div_ceil(2);
        for (class, count) in self.counts.iter().enumerate() {
            let count = u64::from(*count);
            if left <= count && left > 0 {
                return smallest(class);
            }
            left = left.saturating_sub(count);
        }
        0
    }
}

fn class(bytes: u32) -> usize {
    if bytes < EXACT {
        return bytes as usize;
    }
    // The four bits after the leading one: the sixteenth within its power of two.
    let power = bytes.ilog2();
    let sixteenth = (bytes >> (power - 4)) & 15;
    EXACT as usize + ((power - EXACT.ilog2()) * 16 + sixteenth) as usize
}

/// Returns the smallest size of a class.
fn smallest(class: usize) -> u64 {
    let Some(above) = class.checked_sub(EXACT as usize) else { return class as u64 };
    let power = EXACT.ilog2() as usize + above / 16;
    (1 << power) + ((above as u64 % 16) << (power - 4))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians() {
        let check = |sizes: &[u32], median: u64| {
            let mut payloads = Payloads::default();
            for size in sizes {
                payloads.add(*size);
            }
            assert_eq!(payloads.median(), median, "{sizes:?}");
        };
        check(&[], 0);
        check(&[69], 69);
        check(&[1, 2, 3], 2);
        check(&[1, 2, 3, 4], 2);
        check(&[0, 0, 1414], 0);
        check(&[1414], 1408);
        check(&[2048, 65_483, 65_483], 63_488);
    }

    #[test]
    fn every_size_has_a_class_that_holds_it() {
        for bytes in (0..70_000).chain([u32::MAX / 2, u32::MAX]) {
            let from = smallest(class(bytes));
            assert!(from <= u64::from(bytes) && u64::from(bytes) < from + from / 16 + 1, "{bytes}");
        }
    }
}
