//! Rules about queues and the disk on which they wait.

pub(super) mod long_quorum_queue;
pub(super) mod store_sync;
pub(super) mod unconsumed_queue;
pub(super) mod wal_sync;
