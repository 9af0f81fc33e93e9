//! A profile: weighted stacks of one node, with labels and with a statement of their quality.
//!
//! [`model`] holds the types, [`pprof`] and [`folded`] the file formats.

mod firefox;
mod folded;
mod identity;
mod model;
mod names;
mod pprof;
mod speedscope;
mod threads;
mod times;

pub use firefox::write_firefox;
pub use folded::{FoldedError, read_folded, write_folded};
pub use identity::{GONE, Identities, Identity};
pub use model::{
    Capture, Event, Frame, FrameId, FrameKind, FrameTable, Labels, Mode, Profile, Sample,
    StackEntry, StackOutcome, StackQuality,
};
pub use names::source_name;
pub use pprof::{PprofError, read_pprof, write_pprof};
pub use speedscope::write_speedscope;
pub use threads::ThreadKind;
pub use times::Times;
