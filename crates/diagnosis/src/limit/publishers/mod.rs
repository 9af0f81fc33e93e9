//! Publishers that wait: for each confirm, or for delayed acknowledgements.

pub(super) mod delayed_acks;
pub(super) mod one_by_one;
