//! The types that every other crate speaks, and the file formats they are kept in.
//!
//! What lives here: scenarios, run records, time series, profiles, units. What deliberately does
//! not: anything that looks at a clock, a network, a disk or a process. Formats are written to
//! `impl Write` and read from `impl Read`; opening the file is the caller's business.

pub mod capacity;
pub mod profile;
pub mod run;
pub mod scenario;
pub mod units;
pub mod utc;
