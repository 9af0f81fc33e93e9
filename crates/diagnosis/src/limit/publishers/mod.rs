//! Publishers that wait: for each confirm, for answers of other kinds, or for delayed acknowledgements.

pub(super) mod delayed_acks;
pub(super) mod one_by_one;
pub(super) mod waiting;
