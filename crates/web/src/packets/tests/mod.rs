//! The contents of the page of a report.

mod page;
mod pictures;
mod report;
