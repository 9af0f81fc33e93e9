//! Types and files of a run's request and of its results.
//!
//! [`scenario`] is the scenario file, [`record`] the contents of a run directory, [`capacity`] the result of
//! `find-rate`, [`experiment`] that of an experiment. Nothing here looks at a clock, a network, a disk or a process.
//! Formats are written to `impl Write` and read from `impl Read`; the caller opens the file.

pub mod capacity;
mod draws;
pub mod experiment;
mod random;
pub mod record;
pub mod scenario;

pub use draws::Draws;
pub use random::Random;
