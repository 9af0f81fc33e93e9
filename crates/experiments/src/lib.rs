//! What several runs say together.
//!
//! - [`capacity`]: the search for the highest rate.
//! - [`experiment`]: arms in rounds with a random order.
//! - [`comparison`]: two profiles or two runs.
//! - [`likeness`]: a scenario beside the load that it was made of.
//!
//! `runner` executes each run, `analysis` judges them together.

pub mod capacity;
pub mod comparison;
pub mod experiment;
pub mod likeness;
