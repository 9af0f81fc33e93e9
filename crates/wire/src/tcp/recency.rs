//! The least recently used of numbered slots: a doubly linked list in a vector.

const NONE: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct Link {
    older: u32,
    newer: u32,
}

/// An order of slots, by their last use.
#[derive(Debug)]
pub(super) struct Recency {
    links: Vec<Link>,
    oldest: u32,
    newest: u32,
}

impl Recency {
    pub(super) const fn new() -> Self {
        Self { links: Vec::new(), oldest: NONE, newest: NONE }
    }

    /// Returns the least recently used slot.
    pub(super) fn oldest(&self) -> Option<u32> {
        (self.oldest != NONE).then_some(self.oldest)
    }

    /// Adds a slot that is not in the order, as the newest. Slots are numbered without gaps.
    pub(super) fn add(&mut self, slot: u32) {
        if slot as usize == self.links.len() {
            self.links.push(Link { older: NONE, newer: NONE });
        }
        self.links[slot as usize] = Link { older: self.newest, newer: NONE };
        match self.newest {
            NONE => self.oldest = slot,
            newest => self.links[newest as usize].newer = slot,
        }
        self.newest = slot;
    }

    /// Makes a slot the newest.
    pub(super) fn touch(&mut self, slot: u32) {
        if self.newest != slot {
            self.remove(slot);
            self.add(slot);
        }
    }

    /// Removes a slot from the order.
    pub(super) fn remove(&mut self, slot: u32) {
        let Link { older, newer } = self.links[slot as usize];
        match older {
            NONE => self.oldest = newer,
            older => self.links[older as usize].newer = newer,
        }
        match newer {
            NONE => self.newest = older,
            newer => self.links[newer as usize].older = older,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_is_the_one_not_touched_for_longest() {
        let mut recency = Recency::new();
        assert_eq!(recency.oldest(), None);
        for slot in 0..4 {
            recency.add(slot);
        }
        recency.touch(0);
        recency.touch(2);
        recency.touch(2);
        let mut order = Vec::new();
        recency.remove(3);
        while let Some(slot) = recency.oldest() {
            order.push(slot);
            recency.remove(slot);
        }
        assert_eq!(order, [1, 0, 2]);
        recency.add(3);
        recency.add(1);
        assert_eq!(recency.oldest(), Some(3));
    }
}
