//! A profile: weighted stacks of one node, with labels and with a statement of their quality.
//!
//! [`model`], [`identity`], [`lines`] and [`times`] hold the types. [`pprof`] and [`folded`] are read and
//! written; [`perf_data`] and [`perf_script`] are read, [`speedscope`] and [`firefox`] written only.

mod budget;
mod class;
mod firefox;
mod folded;
mod identity;
mod lines;
mod model;
mod names;
mod perf_data;
mod perf_events;
mod perf_script;
mod pprof;
mod speedscope;
mod tally;
mod threads;
mod timeline;
mod times;

pub use budget::{TooLarge, USUAL_PROFILE_BYTES};
pub use class::{FrameClass, is_lock_wait};
pub use firefox::write_firefox;
pub use folded::{FoldedError, read_folded, read_folded_within, write_folded};
pub use identity::{GONE, Identities, Identity};
pub use lines::LineWeight;
pub use model::{
    Capture, Event, Frame, FrameId, FrameKind, FrameTable, Labels, Mode, Profile, Sample,
    StackEntry, StackOutcome, StackQuality,
};
pub use names::source_name;
pub use perf_data::{CodeNames, PerfDataError, read_perf_data, read_perf_data_within};
pub use perf_script::{PerfScriptError, is_perf_script, read_perf_script, read_perf_script_within};
pub use pprof::{PprofError, read_pprof, read_pprof_within, write_pprof};
pub use speedscope::write_speedscope;
pub use threads::ThreadKind;
pub use times::Times;
