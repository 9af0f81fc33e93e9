//! The runs below a directory as pages: the list with the trends of a figure, and two runs side by side.

mod curves;
mod links;
mod list;
mod pair;
mod trend;

pub use curves::ComparedRun;
pub use list::{HistoryQuery, write_history};
pub use pair::{PairReport, write_pair};
