//! The directory of `rabbitscope watch`: a profile for each window and node, by day and hour.
//!
//! [`name`] is the name of a window: its time, length, node and weight. A list of names is thus the index. [`layout`]
//! is the place of files. [`owned`] proves that the directory is ours and that no other process writes to it.
//! [`writer`] adds windows and removes old ones, [`selection`] selects windows, and [`reader`] adds them up.

mod layout;
mod name;
mod owned;
mod reader;
mod selection;
mod writer;

pub use name::WindowName;
pub(crate) use owned::is_archive;
pub(crate) use reader::sum;
pub use reader::{FoundWindow, find};
pub use selection::{Selection, split_selection};
pub use writer::{ArchiveLimits, WindowArchive};
