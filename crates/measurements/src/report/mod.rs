//! Reports of a run's threads: counts and latencies of an interval, observations of messages, lost connections.
//!
//! Workers, verification and aggregation all use these types, which therefore stand below them.

mod failure;
mod measurements;
mod messages;
mod observation;
mod recorder;
mod service_change;
mod service_monitor;
mod side;
mod stalls;

pub(crate) use failure::Failure;
pub(crate) use measurements::{IntervalMeasurements, Responsiveness};
pub(crate) use messages::{IntervalReport, PublisherCounts, Report};
pub(crate) use observation::{Observation, Reader, TraceStep, TraceStepKind};
pub(crate) use recorder::{ObservationRecorder, ObservationSettings};
pub(crate) use service_change::{ServiceChange, TimedChange};
pub(crate) use service_monitor::{ServiceMonitor, UnavailableTime};
pub(crate) use side::Side;
