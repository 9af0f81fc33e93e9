//! The heat map of `watch`: CPU time of each node by time, a row for each hour. Without scripts.

mod cells;
mod document;

pub use cells::BusyWindow;
pub use document::write_heat_map;
