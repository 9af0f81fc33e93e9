//! Packets, connections and frames against other programs' view of them, and against a model.
//!
//! `talk.rs` says what two ends send each other and keeps what comes of it. `tools.rs` runs the programs that are asked.

#![expect(clippy::unwrap_used, reason = "a test that panics has failed")]

mod dissectors;
mod figures;
mod files;
mod reassembly;
mod talk;
mod tcptrace;
mod tools;
mod traffic;
mod written;
