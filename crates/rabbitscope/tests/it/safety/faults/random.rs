//! Random instants, the same for the same seed (splitmix64).

use std::time::Duration;

const VARIABLE: &str = "RABBITSCOPE_FAULT_SEED";

pub(super) struct Random {
    seed: u64,
    state: u64,
}

impl Random {
    pub(super) fn from_environment() -> Self {
        let seed = std::env::var(VARIABLE).map_or(1, |text| text.parse().unwrap());
        Self { seed, state: seed }
    }

    pub(super) fn seed(&self) -> u64 {
        self.seed
    }

    pub(super) fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    /// Returns an instant from zero to `latest`, uniformly distributed.
    pub(super) fn instant(&mut self, latest: Duration) -> Duration {
        let part = (self.next() >> 11) as f64 / (1_u64 << 53) as f64;
        latest.mul_f64(part)
    }
}
