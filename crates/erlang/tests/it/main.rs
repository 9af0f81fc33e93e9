//! The connection against real nodes, and against peers that send arbitrary bytes.

#![expect(clippy::unwrap_used, reason = "a test that fails may panic")]

mod agent;
#[path = "../../build/assembly.rs"]
mod assembly;
mod budgets;
mod choices;
mod damaged;
mod known_crashes;
mod live;
mod node;
mod peer;
mod planted;
mod probes;
mod secrets;
mod tls;
mod truths;
