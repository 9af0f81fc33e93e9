//! The page of an experiment: what was found, every round as a dot, how it was measured. One HTML file without
//! scripts.

mod document;
mod grid;
mod intervals;
mod latencies;
mod profiles;
mod sweep;
mod tables;
#[cfg(test)]
mod tests;
mod timeline;

pub use document::write_experiment;
