//! Values as people write and read them.
//!
//! What lives here: durations and sizes ([`parse_duration`], [`display_size`] …), dates
//! ([`parse_utc`] …), texts of others without what a terminal would obey ([`escapes`]), aligned tables
//! ([`table()`]), metrics for Prometheus ([`metrics`]). What deliberately does not: any value's meaning.

pub mod escapes;
pub mod metrics;
mod table;
mod units;
mod utc;

pub use table::{Align, Column, human_bytes, table};
pub use units::{UnitError, display_duration, display_size, parse_duration, parse_size};
pub use utc::{display_utc, parse_offset_time, parse_utc};
