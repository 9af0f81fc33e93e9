//! Reports of a run's threads: counts and latencies of an interval, observations of messages, lost connections.
//!
//! Workers, verification and aggregation all use these types, which therefore stand below them.

mod failure;
mod measurements;
mod messages;
mod recorder;
mod service_change;
mod service_monitor;
mod side;
mod stalls;

pub use failure::Failure;
pub use measurements::{IntervalMeasurements, Responsiveness};
pub use messages::{IntervalReport, PublisherCounts, Report};
pub use recorder::{ObservationRecorder, ObservationSettings};
pub(crate) use service_change::ServiceChange;
pub use service_change::TimedChange;
pub(crate) use service_monitor::UnavailableTime;
pub use service_monitor::{ServiceFindings, ServiceMonitor};
pub use side::Side;
