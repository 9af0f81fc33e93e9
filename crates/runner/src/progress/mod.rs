//! Watchers: each gets every second of a run as it happens.
//!
//! Elsewhere: the content of the seconds, and the files of a run.

mod csv;
mod json_lines;
mod line;
mod live;
mod machine_share;
mod prometheus;
mod served;
mod watchers;

pub use csv::Csv;
pub use json_lines::JsonLines;
pub use line::Line;
pub use live::{Live, RunHeader};
pub use machine_share::{MachineHistory, MachineShare, MachineWatch};
pub use prometheus::Endpoint;
pub use served::ServedPage;
pub use watchers::{Watcher, Watchers, WindowSink};
