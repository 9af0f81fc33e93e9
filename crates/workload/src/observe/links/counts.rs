//! Everything of AMQP 1.0 and of streams that is counted because a scenario does not express it.

/// Counts of a capture.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    /// Messages of AMQP 1.0 without an outcome, without a header, and with sections that were not read.
    pub(crate) settled: u64,
    pub(crate) without_header: u64,
    pub(crate) unread_sections: u64,
    /// Messages of AMQP 1.0 whose links have no address, and those whose addresses have an unknown form.
    pub(crate) addressed: u64,
    pub(crate) of_unknown_address: u64,
    /// Messages that the broker refused.
    pub(crate) refused: u64,
    /// Readers that the broker ended before their first message.
    pub(crate) refused_readers: u64,
    /// Links for transactions, and filters of readers.
    pub(crate) transactions: u64,
    pub(crate) filters: u64,
    /// Messages of streams with values for filters, and with properties, whose bytes count as the body.
    pub(crate) with_filter: u64,
    pub(crate) with_properties: u64,
    /// Messages in entries that are compressed by snappy.
    pub(crate) of_snappy: u64,
    /// Readers that began at a number or a time.
    pub(crate) other_starts: u64,
}
