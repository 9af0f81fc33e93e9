//! A bounded and stable choice of the queues that get a name in series: the heaviest ones.

use std::{collections::HashMap, sync::Arc};

/// Queues with a name at the same time. Every name is a series in the backend.
pub(crate) const MAX_NAMED: usize = 20;

/// Queues in memory, named or not.
const MAX_REMEMBERED: usize = 2000;

/// Share of a weight that a window leaves: half remains after about seven windows.
const KEPT_SHARE: f64 = 0.9;

/// Ratio by which a queue must be heavier to replace another, so that two of similar weight do not alternate.
const HEAVIER: f64 = 1.5;

/// Consecutive windows without weight after which a queue is forgotten and loses its name: five minutes of windows of
/// 10 s. A limit of the weight would mean something else for each unit.
const IDLE_WINDOWS: u32 = 30;

/// Virtual host and name of a queue.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct QueueKey {
    pub(crate) vhost: Arc<str>,
    pub(crate) name: Arc<str>,
}

/// The queues of one node by weight. Old weights decay.
#[derive(Debug, Default)]
pub(crate) struct QueueRanking {
    queues: HashMap<QueueKey, Rank>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Rank {
    weight: f64,
    is_named: bool,
    /// Windows without weight since the last one with some.
    idle_windows: u32,
}

impl QueueRanking {
    /// Returns true if this queue has a name in series.
    pub(crate) fn is_named(&self, queue: &QueueKey) -> bool {
        self.queues.get(queue).is_some_and(|rank| rank.is_named)
    }

    /// Adds the weights of a window. The heaviest queues take free places. Then one queue per window may replace the
    /// lightest named one: the heaviest without a name.
    pub(crate) fn add_window(&mut self, weights: &HashMap<QueueKey, u64>) {
        self.fade();
        for (queue, weight) in weights {
            let rank = self.queues.entry(queue.clone()).or_default();
            rank.weight += *weight as f64;
            rank.idle_windows = 0;
        }
        let mut others = self.sorted(false);
        let named = self.sorted(true);
        let free = MAX_NAMED.saturating_sub(named.len());
        for (_, queue) in others.drain(..free.min(others.len())) {
            self.set_named(&queue, true);
        }
        if let (Some((heavy, newcomer)), Some((light, leaving))) = (others.first(), named.last())
            && *heavy > HEAVIER * *light
        {
            self.set_named(leaving, false);
            self.set_named(newcomer, true);
        }
        self.forget(&others);
    }

    fn fade(&mut self) {
        self.queues.retain(|_, rank| {
            rank.weight *= KEPT_SHARE;
            rank.idle_windows += 1;
            rank.idle_windows <= IDLE_WINDOWS
        });
    }

    /// Returns the queues in descending weight; queues of equal weight are ordered by name.
    fn sorted(&self, is_named: bool) -> Vec<(f64, QueueKey)> {
        let some = self.queues.iter().filter(|(_, rank)| rank.is_named == is_named);
        let mut some: Vec<_> = some.map(|(queue, rank)| (rank.weight, queue.clone())).collect();
        some.sort_by(|(a, queue), (b, other)| b.total_cmp(a).then_with(|| queue.cmp(other)));
        some
    }

    fn set_named(&mut self, queue: &QueueKey, is_named: bool) {
        if let Some(rank) = self.queues.get_mut(queue) {
            rank.is_named = is_named;
        }
    }

    fn forget(&mut self, others: &[(f64, QueueKey)]) {
        let surplus = self.queues.len().saturating_sub(MAX_REMEMBERED);
        for (_, queue) in others.iter().rev().take(surplus) {
            if !self.is_named(queue) {
                self.queues.remove(queue);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queue(name: &str) -> QueueKey {
        QueueKey { vhost: "/".into(), name: name.into() }
    }

    fn named(ranking: &QueueRanking) -> Vec<String> {
        ranking.sorted(true).into_iter().map(|(_, queue)| queue.name.to_string()).collect()
    }

    #[test]
    fn the_heaviest_are_named_and_stay() {
        let mut ranking = QueueRanking::default();
        let many: HashMap<_, _> =
            (0..100_u64).map(|n| (queue(&format!("q{n:02}")), 1000 + n)).collect();
        ranking.add_window(&many);
        let first = named(&ranking);
        assert_eq!(first.len(), MAX_NAMED);
        assert_eq!(first[0], "q99");
        // Other queues are slightly heavier now, which is too little to change names.
        let others = (0..100_u64).map(|n| (queue(&format!("q{n:02}")), 1099 - n)).collect();
        ranking.add_window(&others);
        let mut again = named(&ranking);
        again.sort_unstable_by(|a, b| b.cmp(a));
        assert_eq!(again, first);
        // A much heavier queue takes a place at once, but only one queue does.
        ranking.add_window(&HashMap::from([(queue("planted"), 100_000), (queue("too"), 90_000)]));
        let after = named(&ranking);
        assert_eq!((after.len(), after[0].as_str()), (MAX_NAMED, "planted"));
        assert!(!after.contains(&"too".to_owned()));
    }

    #[test]
    fn what_does_nothing_any_more_is_forgotten() {
        // The same for samples and for nanoseconds.
        for weight in [1, 100, 5_000_000_000] {
            let mut ranking = QueueRanking::default();
            ranking.add_window(&HashMap::from([(queue("a"), weight)]));
            for _ in 0..IDLE_WINDOWS {
                ranking.add_window(&HashMap::new());
                assert!(ranking.is_named(&queue("a")));
            }
            ranking.add_window(&HashMap::new());
            assert!(ranking.queues.is_empty());
        }
    }

    #[test]
    fn memory_is_bounded() {
        let mut ranking = QueueRanking::default();
        for window in 0..20 {
            let new = (0..1000).map(|n| (queue(&format!("{window}-{n}")), 1000)).collect();
            ranking.add_window(&new);
        }
        assert!(ranking.queues.len() <= MAX_REMEMBERED + MAX_NAMED, "{}", ranking.queues.len());
    }
}
