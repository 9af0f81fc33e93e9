//! The connection against real nodes, and against peers that send anything at all.

#![expect(clippy::unwrap_used, reason = "a test that fails may panic")]

mod agent;
mod budgets;
mod choices;
mod damaged;
mod gate;
mod live;
mod node;
mod peer;
mod planted;
mod probes;
mod secrets;
mod tls;
mod truths;
