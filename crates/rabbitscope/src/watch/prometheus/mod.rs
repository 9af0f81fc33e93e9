//! An endpoint for Prometheus while the run goes: `http://ADDRESS/metrics`.
//!
//! Histograms have classic buckets: native ones need Prometheus' protobuf form, which it asks for
//! only where they are switched on. What was scraped never changes what is measured: a thread of its
//! own answers with a text that is made once a second, whether anybody asks or not.

mod endpoint;
mod text;
mod totals;

pub use endpoint::Endpoint;
