//! What a run is asked for and what it leaves behind, as types and as files.
//!
//! [`scenario`] is the scenario file, [`record`] what a run directory holds, [`capacity`] the result of
//! `find-rate`, [`experiment`] that of an experiment. What deliberately does not live here: anything that looks at a clock, a network, a disk
//! or a process. Formats are written to `impl Write` and read from `impl Read`; opening the file is the
//! caller's business.

pub mod capacity;
pub mod experiment;
pub mod record;
pub mod scenario;
