//! Random numbers from a seed: the same in every run of a scenario.

/// `SplitMix64` (Steele, Lea and Flood, 2014): small, and good enough for test data.
#[derive(Clone, Debug)]
pub struct Random(u64);

/// Distance of consecutive states.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

fn mixed(state: u64) -> u64 {
    let mut mixed = state;
    mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ mixed >> 31
}

impl Random {
    /// Returns the generator of a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns an independent generator per name, so that one group does not change another's numbers.
    #[must_use]
    pub fn fork(&self, name: &str) -> Self {
        // FNV-1a
        let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        let mut forked = Self(self.0 ^ hash);
        forked.next();
        forked
    }

    /// Returns the next 64 random bits.
    #[expect(clippy::should_implement_trait, reason = "the numbers have no end")]
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(STEP);
        mixed(self.0)
    }

    /// Returns the 64 bits that [`Self::next`] returns after `number` others.
    pub fn nth(&self, number: u64) -> u64 {
        mixed(self.0.wrapping_add(STEP.wrapping_mul(number.wrapping_add(1))))
    }

    /// Returns a number from 0 to below `limit`.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit.max(1)
    }

    /// Returns the seed for the schedule of a group's `member`.
    pub fn schedule_seed(&self, member: u32) -> u64 {
        self.fork(&format!("schedule {member}")).below(u64::MAX)
    }

    /// Returns `digits` hexadecimal digits.
    pub fn hex(&mut self, digits: usize) -> String {
        let mut text = String::with_capacity(digits + 16);
        while text.len() < digits {
            text.extend([format!("{:016x}", self.next())]);
        }
        text.truncate(digits);
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_same_numbers_and_names_others() {
        let hex = |seed, name| Random::new(seed).fork(name).hex(32);
        assert_eq!(hex(1, "a"), hex(1, "a"));
        assert_eq!(hex(1, "a").len(), 32);
        assert_ne!(hex(1, "a"), hex(1, "b"));
        assert_ne!(hex(1, "a"), hex(2, "a"));
    }

    #[test]
    fn a_number_is_found_without_those_before() {
        let (first, mut random) = (Random::new(7), Random::new(7));
        for number in 0..100 {
            assert_eq!(first.nth(number), random.next(), "{number}");
        }
    }
}
