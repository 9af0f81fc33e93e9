//! Sizes of messages whose frames cannot be read.
//!
//! A publish is a method, a header and a body: 47 bytes around exchange, key, properties and body. A record of TLS 1.3
//! adds 17 bytes to its content, one of TLS 1.2 with GCM 24. A client that writes a message at once has one record for
//! each; one that writes frame by frame has three, of which the last is the body.

use crate::{
    figures::{Buckets, Values},
    observe::Records,
};

/// Bytes of a publish around names, properties and body.
const AROUND: u64 = 47;
/// Bytes of its first frame around the names, and of the last one around the body.
const AROUND_METHOD: u64 = 17;
const AROUND_BODY: u64 = 8;
/// Difference of the number of records, as part of the expected one, up to which they are those of messages.
const EVEN: f64 = 0.1;

/// The way in which a client's messages became records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Writing {
    /// A record for each message.
    PerMessage,
    /// Three records for each message.
    PerFrame,
    /// Unknown, or several messages in a record.
    Unknown,
}

/// Sizes of messages.
#[derive(Clone, Debug)]
pub(super) struct SeenSizes {
    pub(super) sizes: Values<u64>,
    pub(super) buckets: Buckets,
    pub(super) writing: Writing,
}

impl SeenSizes {
    /// Returns one size for all: the mean.
    pub(super) fn of_bytes(bytes: u64, messages: u64, names: u64) -> Self {
        let mean = (bytes / messages.max(1)).saturating_sub(AROUND + names);
        let mut seen = Self::none();
        seen.add(mean, messages);
        seen
    }

    /// Returns the sizes behind records. `overhead` are the bytes that TLS adds to each, `names` those of exchange and key.
    pub(super) fn of_records(
        records: &Records,
        overhead: u64,
        (messages, names): (u64, u64),
    ) -> Self {
        let ratio = records.count as f64 / messages.max(1) as f64;
        let is_near = |expected: f64| (ratio / expected - 1.0).abs() <= EVEN;
        let ranked = records.sizes.ranked();
        if is_near(1.0) {
            let around = overhead + AROUND + names;
            let large = ranked.iter().filter(|(size, _)| **size > around);
            return Self::listed(
                large.map(|(size, count)| (*size - around, *count)),
                Writing::PerMessage,
            );
        }
        let method = overhead + AROUND_METHOD + names;
        let has_methods =
            ranked.iter().any(|(size, count)| **size == method && *count * 2 > messages);
        if is_near(3.0) && has_methods {
            let header = header(&ranked, method, messages);
            let bodies =
                ranked.iter().filter(|(size, _)| **size != method && Some(**size) != header);
            let body = |size: u64| size.saturating_sub(overhead + AROUND_BODY);
            return Self::listed(
                bodies.map(|(size, count)| (body(**size), *count)),
                Writing::PerFrame,
            );
        }
        let bytes = records.bytes.saturating_sub(overhead * records.count);
        Self::of_bytes(bytes, messages, names)
    }

    fn none() -> Self {
        Self { sizes: Values::default(), buckets: Buckets::default(), writing: Writing::Unknown }
    }

    fn listed(sizes: impl Iterator<Item = (u64, u64)>, writing: Writing) -> Self {
        let mut seen = Self { writing, ..Self::none() };
        sizes.for_each(|(size, count)| seen.add(size, count));
        seen
    }

    fn add(&mut self, size: u64, count: u64) {
        self.sizes.add_times(size, count);
        self.buckets.add_times(size, count);
    }
}

/// Returns the size of the records with headers: as frequent as messages, and not the methods'.
fn header(ranked: &[(&u64, u64)], method: u64, messages: u64) -> Option<u64> {
    let frequent =
        ranked.iter().filter(|(size, count)| **size != method && *count * 10 > messages * 9);
    // A body of one size is as frequent; it comes from the same client, and is rarely as small as a header.
    frequent.map(|(size, _)| **size).min()
}
