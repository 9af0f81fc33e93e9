//! Exports to real servers, to a receiver that decodes with published definitions, and to misbehaving servers.

#![expect(clippy::unwrap_used, reason = "a test that fails may panic")]

mod away;
mod dashboards;
mod decoded;
mod material;
mod misbehaving;
mod stored;
