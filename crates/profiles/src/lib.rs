//! Profiles, and the file formats that they are read from and written to. A profile has weighted stacks of one or
//! several nodes, with labels and a statement of their quality.
//!
//! [`model`] holds the types. [`pprof`] and [`folded`] are read and written; [`perf_data`] and [`perf_script`] are
//! read, [`speedscope`] and [`firefox`] written only. Readers take `impl Read` and writers `impl Write`: the caller
//! opens the files. This crate uses no clock, network, disk or process.

mod budget;
mod demangle;
mod firefox;
mod folded;
mod model;
mod names;
mod perf_data;
mod perf_events;
mod perf_script;
mod pprof;
mod reading;
mod speedscope;
mod tally;
mod timeline;

pub use budget::{TooLarge, USUAL_PROFILE_BYTES};
pub use demangle::{source_name, without_suffix};
pub use firefox::write_firefox;
pub use folded::{FoldedError, read_folded, read_folded_with, write_folded};
pub use model::{
    Capture, Event, Frame, FrameClass, FrameId, FrameKind, FrameTable, GONE, Identities, Identity,
    Labels, LineWeight, MAX_LABELLED, MAX_TIME_BYTES, Mode, Profile, ProfileSum, Quantity, Sample,
    StackEntry, StackOutcome, StackQuality, ThreadKind, Times, ValueName, by_node, is_lock_wait,
    limit_notes, merged,
};
pub use perf_data::{
    CodeNames, PerfDataError, RecordedFile, RecordedKernel, read_perf_data, read_perf_data_with,
};
pub use perf_script::{PerfScriptError, is_perf_script, read_perf_script, read_perf_script_with};
pub use pprof::{
    LabelledStack, PprofError, read_pprof, read_pprof_with, write_labelled_pprof, write_pprof,
    write_pprof_fast,
};
pub use reading::{ReadOptions, UnknownValue};
pub use speedscope::write_speedscope;
