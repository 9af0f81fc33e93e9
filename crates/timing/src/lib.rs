//! Time in a load: the clock of a run, the stamps that messages carry, and the latencies that follow from both.
//!
//! Every figure of a load begins here. Not here: the decision when to send, and the meaning of a latency.

mod clock;
mod latency;
mod stamp;

pub use clock::{Nanos, RunClock, RunInstant, thread_cpu_time, thread_wait_time};
pub use latency::{
    ChurnHistograms, ChurnLogs, HistogramSet, LatencyHistogram, LatencyLog, LatencyRecord,
    MAX_GROUPS, MAX_SLOTS, SecondHistograms, SlotHistograms, Slots, add_slots, group_slot,
    latency_figures, latency_point, merge, publisher_slot,
};
pub use stamp::{Numbering, STAMP_SIZE, Stamp, StampSeries, run_tag};
