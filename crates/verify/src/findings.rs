//! Counts of wrong deliveries.

/// Counts of wrong deliveries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct DeliveryFindings {
    pub(crate) duplicates: u64,
    pub(super) of_republished: u64,
    pub(crate) out_of_order: u64,
    pub(super) out_of_order_redelivered: u64,
    pub(super) read_again: u64,
    pub(super) unchecked: u64,
}
