//! Packets, connections and frames, compared with other programs and with a model.
//!
//! `talk.rs` plays segments between two ends and collects the results. `tools.rs` runs the other programs.

#![expect(clippy::unwrap_used, reason = "a test that panics has failed")]

mod activity;
mod dissectors;
mod figures;
mod files;
mod reassembly;
mod talk;
mod tcptrace;
mod tools;
mod traffic;
mod written;
