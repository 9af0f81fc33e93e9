//! Counts of wrong deliveries.

/// Counts of wrong deliveries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeliveryFindings {
    /// Messages that were delivered twice.
    pub duplicates: u64,
    pub(super) of_republished: u64,
    /// Messages that were delivered out of order.
    pub out_of_order: u64,
    pub(super) out_of_order_redelivered: u64,
    pub(super) read_again: u64,
    pub(super) unchecked: u64,
}
