//! What the page has of a report.

mod page;
mod pictures;
mod report;
mod shape;
