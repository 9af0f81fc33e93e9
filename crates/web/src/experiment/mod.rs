//! The page of an experiment or a sweep as data: its result, every round as a point, and its method.

mod document;
mod intervals;
mod profiles;
mod sweep;
mod tables;
#[cfg(test)]
mod tests;
mod timeline;

pub use document::write_experiment;
