//! The types of a profile.

mod class;
mod event;
mod frames;
mod identity;
mod lines;
mod merge;
mod nodes;
mod profile;
mod rename;
mod samples;
mod threads;
mod times;
mod value;
mod windows;

pub use class::{FrameClass, is_lock_wait};
pub use event::Event;
pub use frames::{Frame, FrameId, FrameKind, FrameTable};
pub use identity::{GONE, Identities, Identity};
pub use lines::LineWeight;
pub use merge::{ProfileSum, merged};
pub use nodes::by_node;
pub use profile::{Capture, Labels, Mode, Profile, Sample, StackEntry, StackOutcome, StackQuality};
pub(crate) use samples::SampleSum;
pub use threads::ThreadKind;
pub use times::Times;
pub use value::{Quantity, ValueName};
pub use windows::{MAX_LABELLED, MAX_TIME_BYTES, limit_notes};
