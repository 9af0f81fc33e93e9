//! The order of runs within a round.

use std::num::NonZeroUsize;

/// Returns all arms in a random order that depends only on the seed and the round. An interrupted experiment therefore
/// resumes in the order that it would have had.
///
/// With `anchor_every`, the first arm (the baseline) is not drawn. It runs before the others, after them, and in
/// between after each `anchor_every` of them.
pub fn order_of_round(
    seed: u64,
    round: u32,
    arms: usize,
    anchor_every: Option<NonZeroUsize>,
) -> Vec<usize> {
    let mut order = shuffled(seed, round, arms);
    let Some(every) = anchor_every else { return order };
    order.retain(|arm| *arm != 0);
    let parts = order.chunks(every.get());
    std::iter::once(0).chain(parts.flat_map(|part| part.iter().copied().chain([0]))).collect()
}

/// Returns the numbers below `arms` in an order that depends on seed and round alone; each order is equally likely.
pub fn shuffled(seed: u64, round: u32, arms: usize) -> Vec<usize> {
    let mut random = Random(seed ^ u64::from(round).wrapping_mul(0xA076_1D64_78BD_642F));
    let mut order: Vec<usize> = (0..arms).collect();
    for last in (1..arms).rev() {
        order.swap(last, random.below(last + 1));
    }
    order
}

/// `SplitMix64` (Steele, Lea and Flood 2014).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number from 0 to `bound` − 1; the bias is below 2⁻⁴⁰ for numbers of arms.
    #[expect(clippy::cast_possible_truncation, reason = "below `bound`, which is a usize")]
    fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.next()) * bound as u128) >> 64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_order_is_as_likely() {
        let mut counts = std::collections::BTreeMap::new();
        for round in 0..6000 {
            *counts.entry(order_of_round(7, round, 3, None)).or_insert(0) += 1;
        }
        assert_eq!(counts.len(), 6);
        // Four standard deviations.
        assert!(counts.values().all(|count| (885..=1115).contains(count)), "{counts:?}");
    }

    #[test]
    fn the_baseline_comes_again_and_again_where_it_is_an_anchor() {
        let order = order_of_round(7, 3, 8, NonZeroUsize::new(3));
        let anchors: Vec<_> = (0..order.len()).filter(|index| order[*index] == 0).collect();
        assert_eq!((order.len(), anchors), (11, vec![0, 4, 8, 10]));
        let mut others: Vec<_> = order.into_iter().filter(|arm| *arm != 0).collect();
        others.sort_unstable();
        assert_eq!(others, [1, 2, 3, 4, 5, 6, 7]);
    }

    #[test]
    fn an_order_depends_on_seed_and_round_alone() {
        assert_eq!(order_of_round(7, 3, 20, None), order_of_round(7, 3, 20, None));
        assert_ne!(order_of_round(7, 3, 20, None), order_of_round(7, 4, 20, None));
        assert_ne!(order_of_round(7, 3, 20, None), order_of_round(8, 3, 20, None));
    }
}
