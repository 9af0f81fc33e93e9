//! The runs below a directory as pages: the list with the trends of a figure, and two runs side by side.

mod curves;
mod list;
mod pair;
mod trend;

pub use list::{HistoryQuery, write_history};
pub use pair::{ComparedRun, PairReport, write_pair};
