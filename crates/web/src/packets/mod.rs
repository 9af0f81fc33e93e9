//! The page of `rabbitscope packets`: the evidence of the wire about a broker, findings first. One HTML file without
//! scripts.
//!
//! The layout is here. Figures and findings are elsewhere: `rabbitscope-wire` makes them. The page divides a part by
//! its whole and draws.

mod bar;
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
mod table;
#[cfg(test)]
mod tests;
mod tiles;
mod words;

pub use document::write_packets;
pub(crate) use words::{latency, severity, source};
