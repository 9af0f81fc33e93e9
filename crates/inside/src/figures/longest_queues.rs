//! The selection of queues that are reported by name: the longest ones, few and stable. Every name is a series of the
//! backend.

use std::collections::BTreeSet;

use super::QueueDepth;

/// Maximum number of named queues at a time.
pub const MAX_NAMED_QUEUES: usize = 20;

/// Number of queues whose depth the node sends. A named queue keeps its name while it is among them.
pub(super) const CANDIDATES: usize = 2 * MAX_NAMED_QUEUES;

/// The currently named queues of one node, by virtual host and name.
#[derive(Debug, Default)]
pub(super) struct LongestQueues {
    named: BTreeSet<(String, String)>,
}

impl LongestQueues {
    /// Selects the named queues. `candidates` are sorted, the longest first.
    pub(super) fn select(&mut self, candidates: Vec<QueueDepth>) -> Vec<QueueDepth> {
        let key = |queue: &QueueDepth| (queue.vhost.clone(), queue.name.clone());
        let (mut named, others): (Vec<_>, Vec<_>) =
            candidates.into_iter().partition(|queue| self.named.contains(&key(queue)));
        let free = MAX_NAMED_QUEUES.saturating_sub(named.len());
        named.extend(others.into_iter().take(free));
        named.sort_by(|a, b| b.messages.cmp(&a.messages).then_with(|| a.cmp(b)));
        self.named = named.iter().map(key).collect();
        named
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn depths(names: impl Iterator<Item = usize>) -> Vec<QueueDepth> {
        let queue = |(index, name): (usize, usize)| QueueDepth {
            vhost: "/".to_owned(),
            name: format!("q{name:02}"),
            messages: 1000 - index as u64,
        };
        names.enumerate().map(queue).collect()
    }

    #[test]
    fn a_queue_keeps_its_name_while_it_is_long() {
        let mut longest = LongestQueues::default();
        let first = longest.select(depths(0..40));
        assert_eq!(first, depths(0..20));
        // The others are now slightly longer.
        let names = |queues: Vec<QueueDepth>| {
            queues.into_iter().map(|queue| queue.name).collect::<BTreeSet<_>>()
        };
        let second = longest.select(depths((0..40).rev()));
        assert_eq!(names(second), names(depths(0..20)));
        // Half of them are now short.
        let third = longest.select(depths(10..50));
        assert_eq!(names(third), names(depths(10..30)));
    }
}
