//! The page of an experiment: its result, every round as a dot, and its method. One HTML file without scripts.

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
