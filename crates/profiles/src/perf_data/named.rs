//! Cache of named addresses, by process.

use hashbrown::HashMap;

use super::super::FrameId;

/// Size of the cache. Naming an address again costs time but no memory.
const MAX_ADDRESSES: usize = 1 << 20;

/// Frames by process and address.
#[derive(Debug, Default)]
pub(super) struct Named {
    by_process: HashMap<u32, HashMap<u64, FrameId>>,
    held: usize,
}

impl Named {
    pub(super) fn get(&self, pid: u32, address: u64) -> Option<FrameId> {
        self.by_process.get(&pid)?.get(&address).copied()
    }

    pub(super) fn insert(&mut self, pid: u32, address: u64, frame: FrameId) {
        if self.held == MAX_ADDRESSES {
            *self = Self::default();
        }
        self.by_process.entry(pid).or_default().insert(address, frame);
        self.held += 1;
    }

    /// Forgets a process whose memory has other code now.
    pub(super) fn forget(&mut self, pid: u32) {
        self.held -= self.by_process.remove(&pid).map_or(0, |addresses| addresses.len());
    }
}

#[cfg(test)]
mod tests {
    use super::{FrameId, MAX_ADDRESSES, Named};

    #[test]
    fn memory_is_bounded() {
        let mut named = Named::default();
        for address in 0..MAX_ADDRESSES as u64 {
            named.insert(7, address, FrameId(1));
        }
        assert_eq!(named.get(7, 5), Some(FrameId(1)));
        named.insert(8, 5, FrameId(2));
        assert_eq!((named.get(7, 5), named.get(8, 5)), (None, Some(FrameId(2))));
        named.forget(8);
        assert_eq!((named.get(8, 5), named.held), (None, 0));
    }
}
