//! Commands that read the packets of a broker.

pub(super) mod packets;
pub(super) mod workload;
