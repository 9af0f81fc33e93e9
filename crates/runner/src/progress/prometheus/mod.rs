//! An endpoint for Prometheus during the run: `http://ADDRESS/metrics`.
//!
//! Histograms have classic buckets. Native ones need Prometheus' protobuf form, which it requests only if they are
//! enabled. Scrapes do not affect the measurements: a thread of its own answers with a text that is made once a
//! second, with or without requests.

mod endpoint;
mod totals;

pub use endpoint::Endpoint;
