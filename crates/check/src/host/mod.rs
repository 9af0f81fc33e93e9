//! The machine of the node: two readings, and their difference.

mod binding;
mod difference;
mod disk;
mod neighbours;
mod reading;

pub(crate) use reading::read;
