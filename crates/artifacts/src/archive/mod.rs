//! The directory of `rabbitscope watch`: a profile for each window and node, by day and hour.
//!
//! [`name`] is the name of a window: its time, length, node and weight. A list of names is thus the index. [`layout`]
//! is the place of files. [`owned`] proves that the directory is ours and that no other process writes to it.
//! [`writer`] adds windows and removes old ones, [`selection`] selects windows, [`reader`] adds them up, [`bars`] keeps
//! their times, and [`span`] their Erlang processes.

mod bars;
mod layout;
mod name;
mod owned;
mod reader;
mod selection;
mod span;
mod writer;

pub use name::WindowName;
pub use owned::is_archive;
pub(crate) use reader::sum;
pub use reader::{FoundWindow, find};
pub use selection::{Selection, split_selection};
pub use span::{RecordedSpan, read_span};
pub use writer::{ArchiveLimits, WindowArchive};
