//! The likeness of two loads: a source and the run of a scenario that was made of it.
//!
//! ```text
//! measurements  figures of each group by blocks of time, as a file keeps them
//! replay        flows of a run ─► measurements of the groups of its scenario
//! distance      distances of distributions, and their noise
//! figure        a figure of both, its bar, its noise, its verdict
//! publishers    figures of publishers and callers
//! readers       figures of consumers, programs that poll, and responders
//! profile       shares of the broker's CPU samples by function and module, and their overlap
//! compare       all of them, and the load as a whole
//! text          the table for people
//! ```
//!
//! A figure is alike if it differs by its bar at most, or by the noise between blocks of the source. Both come from
//! 95 % of pairs of captures of one source. With too few messages it is *not judged*, unless it differs by more.

mod compare;
mod distance;
mod figure;
mod measurements;
mod profile;
mod publishers;
mod readers;
mod replay;
mod text;

pub use compare::{Likeness, compare};
pub use figure::{Figure, Verdict};
pub use measurements::{Measurements, MeasurementsError};
pub use profile::ProfileShares;
