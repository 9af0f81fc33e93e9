//! The figures of a case, in a form that two checks can be compared by.
//!
//! * `metrics`, `readings`: the table of single figures; a new one is a line of the table;
//! * `rows`: threads, functions, Erlang processes;
//! * `clients`: connections and channels by client;
//! * `whole`: all of them.

mod bounds;
mod clients;
mod metrics;
mod readings;
#[cfg(test)]
mod reference;
mod rows;
mod whole;

pub(crate) use bounds::MOST_ROWS;
pub use clients::{ClientFigure, ClientRate};
pub use metrics::{METRICS, Metric, Variation};
pub use rows::{FunctionFigure, ProcessFigure, ThreadFigure};
pub use whole::Figures;
