//! Rules about clients: by the client's own name, user and addresses.

pub(super) mod confirm_window;
pub(super) mod low_prefetch;
pub(super) mod many_channels;
pub(super) mod polling;
pub(super) mod silent_consumer;
pub(super) mod transactions;
pub(super) mod unacknowledged;
