//! Request bodies for each backend. Pure: no clock, network, disk.
//!
//! [`SeriesProfile`] is a profile with the few labels that a series may have. [`QueueRanking`] chooses the queues
//! among them. Each other file has one format.

mod identity;
mod influx;
mod open_metrics;
mod otlp;
mod parca;
mod pyroscope;
mod queue_ranking;
mod remote_write;
mod series_profile;

pub(crate) use influx::influx_lines;
pub(crate) use open_metrics::{OPEN_METRICS_TYPE, open_metrics};
pub(crate) use otlp::{otlp_profiles, rejected_profiles};
pub(crate) use parca::parca_request;
pub(crate) use pyroscope::pyroscope_request;
pub(crate) use queue_ranking::{QueueKey, QueueRanking};
pub(crate) use remote_write::remote_write_request;
pub(crate) use series_profile::SeriesProfile;

#[cfg(test)]
pub(crate) use series_profile::tests::profile as test_profile;
