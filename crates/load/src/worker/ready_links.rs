//! The links of a worker that have work.

/// A queue with each link at most once, in the order in which work arrived.
pub(super) struct ReadyLinks {
    queue: Vec<usize>,
    /// The links of the current pass.
    serving: Vec<usize>,
    is_queued: Vec<bool>,
}

impl ReadyLinks {
    /// A queue of all of `count` links.
    pub(super) fn all(count: usize) -> Self {
        Self {
            queue: (0..count).collect(),
            serving: Vec::with_capacity(count),
            is_queued: vec![true; count],
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    pub(super) fn push(&mut self, link: usize) {
        if !std::mem::replace(&mut self.is_queued[link], true) {
            self.queue.push(link);
        }
    }

    pub(super) fn push_all(&mut self) {
        (0..self.is_queued.len()).for_each(|link| self.push(link));
    }

    /// Begins a pass over the links that are queued now, and returns their number.
    pub(super) fn begin_pass(&mut self) -> usize {
        self.serving.clear();
        std::mem::swap(&mut self.queue, &mut self.serving);
        self.serving.len()
    }

    /// Returns the link at a position of the pass. From now on it may be queued again.
    pub(super) fn take(&mut self, position: usize) -> usize {
        let link = self.serving[position];
        self.is_queued[link] = false;
        link
    }
}
