//! The page of `rabbitscope packets` as data: the evidence of the wire about a broker, findings first.
//!
//! The choice of tables and charts is here. Figures and findings are elsewhere: `rabbitscope-wire` makes them.

mod capture;
mod connections;
mod document;
mod figures;
mod findings;
mod frames;
mod hues;
mod ladder;
mod latencies;
mod sequence;
mod sizes;
mod sockets;
#[cfg(test)]
mod tests;
mod tiles;
mod words;

pub use document::write_packets;
pub(crate) use words::latency;
