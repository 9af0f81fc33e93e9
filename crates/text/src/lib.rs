//! Values in the form in which people write and read them. Their meaning is elsewhere.
//! - durations and sizes as typed: [`parse_duration`], [`display_size`] …
//! - figures for people: [`short_time`], [`human_bytes`], [`grouped`], [`counted`]
//! - percentiles of times: [`Percentiles`]
//! - dates: [`parse_utc`] …
//! - foreign texts that are safe for a terminal: [`escapes`]
//! - identities of figures: [`MetricId`]
//! - aligned tables: [`table()`]
//! - metrics for Prometheus: [`metrics`]

pub mod escapes;
mod figures;
mod metric_id;
pub mod metrics;
mod percentiles;
mod table;
mod terms;
mod units;
mod utc;

pub use figures::{counted, grouped, grouped_rate, human_bytes, short_time};
pub use metric_id::{MetricId, Unit};
pub use percentiles::Percentiles;
pub use table::{Align, Column, table, table_of_rows};
pub use terms::is_plain_term;
pub use units::{UnitError, display_duration, display_size, parse_duration, parse_size};
pub use utc::{clock_utc, compact_utc, display_utc, parse_offset_time, parse_utc};
