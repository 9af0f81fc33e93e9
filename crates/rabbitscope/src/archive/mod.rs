//! The directory of `rabbitscope watch`: a profile for each window and node, by day and hour.
//!
//! [`name`] is the name of a window, which says when, how long, whose and how much: a list of names is the index.
//! [`layout`] is where files lie.
//! [`owned`] proves that the directory is ours and that nobody else writes to it, [`writer`] adds windows and removes
//! old ones, [`selection`] says which windows are meant, and [`reader`] adds them up.

mod layout;
mod name;
mod owned;
mod reader;
mod selection;
mod writer;

pub(crate) use name::WindowName;
pub(crate) use owned::is_archive;
pub(crate) use reader::{FoundWindow, find, sum};
pub(crate) use selection::split_selection;
pub(crate) use writer::{ArchiveLimits, WindowArchive};
