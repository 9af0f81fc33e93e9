//! The figures of queues that are kept from one reading of the node's tables to the next.
//!
//! A classic queue writes its figures and its reductions together. While its reductions are unchanged, its figures are
//! too, and need not be read again.

use std::sync::Arc;

use rabbitscope_erlang::Term;
use rustc_hash::FxHashMap;

use super::{QueueRow, shared_strings::SharedStrings};

/// Virtual host and name in one key, built by [`join`].
pub(super) type QueueKey = Box<[u8]>;

/// Queues of the last reading.
#[derive(Debug, Default)]
pub(super) struct QueueCache {
    pub(super) queues: FxHashMap<QueueKey, CachedQueue>,
    /// Number of the current reading. It has not found queues with an older number.
    pub(super) reading: u64,
}

/// A queue.
#[derive(Debug)]
pub(super) struct CachedQueue {
    pub(super) name: Arc<str>,
    /// Number of the last reading that found the queue.
    pub(super) reading: u64,
    /// Index of its row in that reading.
    pub(super) row: usize,
    /// The figures that it wrote last; only for classic queues, because the others do not reveal when they write.
    pub(super) written: Option<WrittenInfos>,
}

/// Figures that a classic queue wrote into `queue_metrics`.
#[derive(Debug)]
pub(super) struct WrittenInfos {
    /// Reductions of the queue's process at that time.
    pub(super) reductions: u64,
    pub(super) infos: QueueInfos,
}

/// Figures from `queue_metrics`; `None` if the node has none.
#[derive(Debug, Default)]
pub(super) struct QueueInfos {
    state: Option<Arc<str>>,
    consumers: Option<u64>,
    memory_bytes: Option<u64>,
}

impl QueueCache {
    /// Returns the cache for the next reading.
    pub(super) fn next_reading(self) -> Self {
        Self { reading: self.reading + 1, ..self }
    }

    /// Returns the index of the row of a queue that the current reading has found.
    pub(super) fn row(&self, key: &[u8]) -> Option<usize> {
        self.queues.get(key).filter(|queue| queue.reading == self.reading).map(|queue| queue.row)
    }
}

impl QueueInfos {
    /// Reads the figures from the node's terms.
    pub(super) fn read(
        state: &Term,
        consumers: &Term,
        memory: &Term,
        strings: &mut SharedStrings,
    ) -> Self {
        Self {
            state: state_name(state).map(|state| strings.share(state)),
            consumers: consumers.as_u64(),
            memory_bytes: memory.as_u64(),
        }
    }

    /// Copies the figures of a row.
    pub(super) fn from_row(row: &QueueRow) -> Self {
        let (consumers, memory_bytes) = (row.consumers, row.memory_bytes);
        Self { state: row.state.clone(), consumers, memory_bytes }
    }

    /// Writes the figures to a row.
    pub(super) fn write_to(&self, row: &mut QueueRow) {
        row.state.clone_from(&self.state);
        (row.consumers, row.memory_bytes) = (self.consumers, self.memory_bytes);
    }
}

fn state_name(state: &Term) -> Option<&str> {
    state.as_atom().filter(|state| !["unknown", ""].contains(state))
}

/// Joins virtual host and name, after the length of the virtual host in four bytes.
pub(super) fn join(vhost: &Term, name: &Term, key: &mut Vec<u8>) -> Option<()> {
    let (vhost, name) = (vhost.as_binary()?, name.as_binary()?);
    key.clear();
    key.extend(u32::try_from(vhost.len()).ok()?.to_le_bytes());
    key.extend_from_slice(vhost);
    key.extend_from_slice(name);
    Some(())
}

/// Splits a key of [`join`] into virtual host and name.
pub(super) fn vhost_and_name(key: &QueueKey) -> (&[u8], &[u8]) {
    let (length, both) = key.split_first_chunk().expect("a key begins with a length");
    both.split_at(u32::from_le_bytes(*length) as usize)
}
