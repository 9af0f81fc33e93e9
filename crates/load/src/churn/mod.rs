//! Churn: connections, channels, queues, bindings and consumers that come and go.
//!
//! Here is what all kinds share, and the churn of connections. Whatever lives on a connection is a
//! role of a link.

mod connections;
mod cycle;
mod latencies;

pub(crate) use connections::{ConnectionChurn, churned_connections};
pub(crate) use cycle::{Cycle, RETRY_NANOS, slots_that_end};
pub(crate) use latencies::{ChurnGauges, ChurnLogs};
