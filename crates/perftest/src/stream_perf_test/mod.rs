//! Stream PerfTest: its options, and the sections of the scenario that does the same.

mod broker;
mod clients;
mod conversion;
mod options;
mod streams;
#[cfg(test)]
mod tests;

pub(super) use conversion::convert;
